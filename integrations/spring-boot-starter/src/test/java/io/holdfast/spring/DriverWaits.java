package io.holdfast.spring;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Where the JDK seems to wait and does not, and where the driver of Redis does for a moment. The tests of holdfast-redis say more. */
public final class DriverWaits implements BlockHoundIntegration {

    private static final String ENDPOINT_LOCK = "io.lettuce.core.protocol.SharedLock";

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // The driver makes the context of TLS on its event loop. That draws random numbers from /dev/urandom, which
        // always has some.
        builder.allowBlockingCallsInside("sun.security.provider.NativePRNG$RandomIO", "readFully");
        builder.allowBlockingCallsInside(ENDPOINT_LOCK, "incrementWriters");
        builder.allowBlockingCallsInside(ENDPOINT_LOCK, "doExclusive");
    }
}
