package io.holdfast.benchmarks.peer;

import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/** The same way to lock, but each cycle takes a lock that no cycle took before, such as {@code order/123}. */
public record FreshNames(Peer peer, AtomicLong next) implements Peer {

    /**
     * Begins with the first name.
     *
     * @param peer the way to lock, which this peer closes
     */
    public FreshNames(Peer peer) {
        this(peer, new AtomicLong());
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.defer(() -> peer.cycle(lock + '-' + next.incrementAndGet(), whileHolding));
    }

    @Override
    public boolean isBlocking() {
        return peer.isBlocking();
    }

    @Override
    public void close() {
        peer.close();
    }
}
