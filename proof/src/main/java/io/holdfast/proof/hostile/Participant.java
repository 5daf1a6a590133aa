package io.holdfast.proof.hostile;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A {@link Client} as the campaign sees it, in this process or in another one. */
interface Participant extends AutoCloseable {

    String name();

    /** Sends an order to the client. */
    void tell(String word);

    /** Returns the next line of the client; null if no line comes in time. */
    @Nullable
    String line(Duration within) throws InterruptedException;

    /** Ends the client. */
    @Override
    void close();
}
