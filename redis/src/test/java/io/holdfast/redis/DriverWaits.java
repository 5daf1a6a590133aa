package io.holdfast.redis;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Where the JDK seems to wait, and does not. */
public final class DriverWaits implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // TLS draws random numbers from /dev/urandom, which always has some.
        builder.allowBlockingCallsInside("sun.security.provider.NativePRNG$RandomIO", "readFully");
    }
}
