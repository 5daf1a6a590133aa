package io.holdfast.benchmarks.peer;

import reactor.core.publisher.Mono;

/** One client of one way to lock. Thread-safe. */
public interface Peer extends AutoCloseable {

    /**
     * Takes a lock, waiting for it as long as need be, does something, and gives it back. Completes when the lock is given back, as
     * far as this way to lock can tell.
     *
     * @param lock its name
     * @param whileHolding lazy
     * @return cold; each subscription is one cycle
     */
    Mono<Void> cycle(String lock, Mono<Void> whileHolding);

    /** Whether a subscription to {@link #cycle} keeps the thread until the cycle is over; then each lane needs a thread of its own. */
    default boolean isBlocking() {
        return false;
    }

    /** Prepares what a user would have prepared once per lock, before anything is measured. */
    default void prepare(String lock) {}

    @Override
    void close();
}
