package io.holdfast.benchmarks.peer;

import io.r2dbc.pool.ConnectionPool;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.r2dbc.R2dbcLockProvider;
import reactor.core.publisher.Mono;

/** ShedLock. It blocks, and cannot wait. */
final class ShedLockPeer implements Peer {

    private static final int CONNECTIONS = 20;

    private final ConnectionPool pool;
    private final R2dbcLockProvider provider;

    ShedLockPeer(Postgres server) {
        pool = server.pool(CONNECTIONS);
        provider = new R2dbcLockProvider(pool);
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.fromRunnable(() -> {
            SimpleLock taken = provider.lock(
                            new LockConfiguration(Instant.now(), lock, Duration.ofSeconds(30), Duration.ZERO))
                    .orElseThrow(() -> new IllegalStateException(
                            "'%s' is taken, and this way to lock cannot wait".formatted(lock)));
            try {
                Object unused = whileHolding.block();
            } finally {
                taken.unlock();
            }
        });
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void close() {
        pool.dispose();
    }
}
