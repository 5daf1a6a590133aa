package io.holdfast.benchmarks.peer;

import reactor.core.publisher.Mono;

/** One client of one way to lock. Thread-safe. */
public interface Peer extends AutoCloseable {

    /**
     * Acquires a lock, waits for it without a limit, runs the work, and releases the lock. Completes after the release, as far as this way to lock
     * reports it.
     *
     * @param lock the name of the lock
     * @param whileHolding the lazy work
     * @return cold; each subscription is one cycle
     */
    Mono<Void> cycle(String lock, Mono<Void> whileHolding);

    /**
     * Whether a subscription to {@link #cycle} keeps the thread until the cycle is over. Then each lane needs a thread of its own, which may block
     * without a limit: it is a daemon, and {@link io.holdfast.benchmarks.load.Lanes#close} waits for it with a limit.
     */
    default boolean isBlocking() {
        return false;
    }

    /** Prepares a lock before the measurement, as a user does once for each lock. */
    default void prepare(String lock) {}

    @Override
    void close();
}
