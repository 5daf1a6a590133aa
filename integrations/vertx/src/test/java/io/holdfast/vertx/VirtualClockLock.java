package io.holdfast.vertx;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * The virtual clock keeps due tasks in a {@code PriorityBlockingQueue}. Event loops and the thread of the test compete for its lock for an
 * instant. Only tests cause that, so a signal or a release must not fail because of it.
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
