package io.holdfast.spring;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Allows places where the JDK only seems to wait, and where the driver of Redis waits for a moment. The tests of holdfast-redis explain
 * them.
 */
public final class DriverWaits implements BlockHoundIntegration {

    private static final String ENDPOINT_LOCK = "io.lettuce.core.protocol.SharedLock";

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // The driver creates the TLS context on its event loop. That reads random numbers from /dev/urandom, which
        // always has some.
        builder.allowBlockingCallsInside("sun.security.provider.NativePRNG$RandomIO", "readFully");
        builder.allowBlockingCallsInside(ENDPOINT_LOCK, "incrementWriters");
        builder.allowBlockingCallsInside(ENDPOINT_LOCK, "doExclusive");
    }
}
