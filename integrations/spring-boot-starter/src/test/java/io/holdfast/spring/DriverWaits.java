package io.holdfast.spring;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Allows places where the JDK only seems to wait, and where a pool or the driver of Redis waits for a moment. The tests of holdfast-redis
 * explain those of the driver.
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
        // With deliver-on=threads, two threads that wake waiters may start a thread of the pool at once, or put a task
        // into its queue. Both take a lock of the pool for an instant, as any caller of any pool does.
        builder.allowBlockingCallsInside("java.util.concurrent.ThreadPoolExecutor", "execute");
    }
}
