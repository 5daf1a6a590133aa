package io.holdfast.spring;

import io.holdfast.LockClient;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import reactor.core.publisher.Mono;

/**
 * Drains the clients when the application context closes, before the web server shuts down gracefully. So waiting requests get their answer
 * while the server still answers, and no work begins under a lock any more. Requests that hold a lock may finish: the web server waits for
 * them.
 *
 * <p>Nothing waits here for the leases: a leader's term, for example, may have no end. {@link LockClientLifecycle} closes the clients.
 */
final class LockClientDrain implements SmartLifecycle {

    /** Spring stops from high to low. The web server begins its graceful shutdown at {@code DEFAULT_PHASE - 1024}. */
    static final int PHASE = DEFAULT_PHASE;

    private final ConfigurableApplicationContext context;

    /** Written by the thread that starts and stops the application. */
    private volatile boolean isRunning;

    LockClientDrain(ConfigurableApplicationContext context) {
        this.context = context;
    }

    @Override
    public void start() {
        isRunning = true;
    }

    /** A context that is only stopped may be started again, and a drain cannot be undone. */
    @Override
    public void stop() {
        if (context.isClosed()) {
            isRunning = false;
            for (LockClient each : LockClientLifecycle.clients(context.getBeanFactory())) {
                Mono<Void> unused = each.drain();
            }
        }
    }

    @Override
    public boolean isRunning() {
        return isRunning;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** A paused context continues later. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
