package io.holdfast.vertx;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Allows the places where Vert.x itself waits on one of its event loops. */
public final class VertxWaits implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // The last task of its shutdown empties the queue of the worker pool, which takes the queue's lock.
        builder.allowBlockingCallsInside("io.vertx.core.internal.WorkerPool", "close");
    }
}
