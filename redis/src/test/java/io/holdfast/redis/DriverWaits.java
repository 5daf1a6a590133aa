package io.holdfast.redis;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Where the JDK seems to wait, and does not; and where the driver does, for so short a time that nothing else can be done about it. */
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
        // redis/lettuce#3880 shows the same spin). None of our code runs under this lock.
        builder.allowBlockingCallsInside(ENDPOINT_LOCK, "incrementWriters");
        builder.allowBlockingCallsInside(ENDPOINT_LOCK, "doExclusive");
    }
}
