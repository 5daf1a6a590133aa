package io.holdfast.proof.hostile;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A {@link Client}, wherever it runs, as the campaign sees it. */
interface Participant extends AutoCloseable {

    String name();

    /** Gives it an order. */
    void tell(String word);

    /** Its next line; null when none comes in time. */
    @Nullable
    String line(Duration within) throws InterruptedException;

    /** Ends it. */
    @Override
    void close();
}
