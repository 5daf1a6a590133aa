package io.holdfast.redlock;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tests collect signals in a {@code LinkedBlockingQueue}, whose {@code offer} takes a lock for an instant on the
 * driver's thread. This lock belongs to the test: the call that brings the signal must not fail because of it.
 */
public final class CollectedSignals implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside("java.util.concurrent.LinkedBlockingQueue", "offer");
    }
}
