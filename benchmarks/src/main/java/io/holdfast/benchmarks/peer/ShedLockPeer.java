package io.holdfast.benchmarks.peer;

import io.r2dbc.pool.ConnectionPool;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.r2dbc.R2dbcLockProvider;
import reactor.core.publisher.Mono;

/** ShedLock. It blocks, and cannot wait. */
final class ShedLockPeer implements Peer {

    private static final int CONNECTIONS = 20;

    /** A release writes the time of the client's clock, which may be set back a little. */
    private static final int MOST_TRIES = 100;

    private final ConnectionPool pool;
    private final R2dbcLockProvider provider;

    ShedLockPeer(Postgres server) {
        pool = server.pool(CONNECTIONS);
        provider = new R2dbcLockProvider(pool);
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.fromRunnable(() -> {
            SimpleLock taken = taken(lock);
            try {
                Object unused = whileHolding.block();
            } finally {
                taken.unlock();
            }
        });
    }

    private SimpleLock taken(String lock) {
        Optional<SimpleLock> taken = Optional.empty();
        for (int tries = 0; taken.isEmpty() && tries < MOST_TRIES; tries++) {
            taken = provider.lock(new LockConfiguration(Instant.now(), lock, Duration.ofSeconds(30), Duration.ZERO));
        }
        return taken.orElseThrow(
                () -> new IllegalStateException("'%s' is taken, and this way to lock cannot wait".formatted(lock)));
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
