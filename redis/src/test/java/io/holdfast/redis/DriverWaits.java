package io.holdfast.redis;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * The places where BlockHound sees a wait in the JDK that does not wait, and where the driver waits so briefly that
 * nothing else can be done.
 */
public final class DriverWaits implements BlockHoundIntegration {

    /** The lock of an endpoint of the driver: shared by the threads that write, exclusive for its event loop. */
    static final String ENDPOINT_LOCK = "io.lettuce.core.protocol.SharedLock";

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // TLS draws random numbers from /dev/urandom, which always has some.
        builder.allowBlockingCallsInside("sun.security.provider.NativePRNG$RandomIO", "readFully");
        // A thread that writes waits while the event loop takes the connection up or down, and the other way round. An
        // error there would not fail one command. It would break the connection for good: the driver counts a writer
        // down that it has not counted up, and its event loop then spins for ever (DefaultEndpoint.write;
        // redis/lettuce#3880 shows the same spin). No code of this library runs under this lock.
        builder.allowBlockingCallsInside(ENDPOINT_LOCK, "incrementWriters");
        builder.allowBlockingCallsInside(ENDPOINT_LOCK, "doExclusive");
    }
}
