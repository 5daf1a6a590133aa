package io.holdfast.benchmarks.peer;

import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import reactor.core.publisher.Mono;

/** Curator's mutex. It belongs to a thread, and waiting blocks it. */
final class CuratorPeer implements Peer {

    private final CuratorSession session;

    CuratorPeer(CuratorSession session) {
        this.session = session;
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.fromCallable(() -> {
            InterProcessMutex mutex = new InterProcessMutex(session.client(), "/curator/" + lock);
            mutex.acquire();
            try {
                Object unused = whileHolding.block();
            } finally {
                mutex.release();
            }
            return null;
        });
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void close() {
        session.close();
    }
}
