package io.holdfast.vertx;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * The virtual clock keeps what is due in a {@code PriorityBlockingQueue}, whose lock event loops meet the test's thread at, for an instant.
 * That is the test's doing: a signal or a release must not fail of it.
 */
public final class VirtualClockLock implements BlockHoundIntegration {

    private static final String QUEUE = "java.util.concurrent.PriorityBlockingQueue";

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside(QUEUE, "offer")
                .allowBlockingCallsInside(QUEUE, "peek")
                .allowBlockingCallsInside(QUEUE, "poll")
                .allowBlockingCallsInside(QUEUE, "remove");
    }
}
