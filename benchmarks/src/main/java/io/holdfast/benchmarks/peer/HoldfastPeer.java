package io.holdfast.benchmarks.peer;

import io.holdfast.LockClient;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** This library, with its default options, over any back end. */
final class HoldfastPeer implements Peer {

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

    private final LockClient client;
    private final Runnable atEnd;

    HoldfastPeer(LockBackend backend) {
        this(backend, () -> {});
    }

    /** Makes a peer that also closes a resource after the client. */
    HoldfastPeer(LockBackend backend, Runnable atEnd) {
        client = LockClient.create(backend);
        this.atEnd = atEnd;
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return client.lock(lock).withLock(whileHolding);
    }

    @Override
    public void close() {
        Object unused = client.close().block(CLOSE_LIMIT);
        atEnd.run();
    }
}
