package io.holdfast.spring;

import io.holdfast.LockClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the client when the application stops: after the web server, so that requests in flight keep their locks, and before
 * connections of the application, so that work under a lock can still be ended well.
 */
final class LockClientLifecycle implements SmartLifecycle {

    /**
     * Spring stops from high to low. The web server answers what it was asked at {@code DEFAULT_PHASE - 1024} and is gone at
     * {@code DEFAULT_PHASE - 2048}; connection factories such as those of Spring Data are at 0.
     */
    static final int PHASE = DEFAULT_PHASE - 3072;

    private static final Logger LOG = LoggerFactory.getLogger(LockClientLifecycle.class);

    private final LockClient client;

    /** Written by the thread that starts and stops the application. */
    private volatile boolean isRunning;

    /** Written by the thread that stops the application. */
    private volatile boolean isClosed;

    LockClientLifecycle(LockClient client) {
        this.client = client;
    }

    @Override
    public void start() {
        if (isClosed) {
            throw new IllegalStateException(
                    "the lock client was closed when this application context was stopped, and cannot be opened again: make a new context instead of starting this one again");
        }
        isRunning = true;
    }

    /**
     * The one place that subscribes. Closing ends by itself within an operation timeout, and nobody is blocked meanwhile: Spring waits
     * for the callback, for {@code spring.lifecycle.timeout-per-shutdown-phase} at most.
     */
    @Override
    public void stop(Runnable callback) {
        isRunning = false;
        isClosed = true;
        client.close()
                .doFinally(end -> callback.run())
                .subscribe(nothing -> {}, error -> LOG.warn("the lock client did not close in order", error));
    }

    /** Only Spring itself calls it, and not where there is one with a callback. */
    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public boolean isRunning() {
        return isRunning;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** A paused context goes on later, and its leases with it. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
