package io.holdfast.benchmarks.peer;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import reactor.core.publisher.Mono;

/** PostgreSQL's advisory locks. A session has each of them, so a connection is taken from the pool until the lock is given back. */
final class AdvisoryLockPeer implements Peer {

    /** Of the hundred that a server takes by default, for two processes. */
    private static final int CONNECTIONS = 40;

    private final ConnectionPool pool;

    AdvisoryLockPeer(Postgres server) {
        pool = server.pool(CONNECTIONS);
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.usingWhen(
                pool.create(),
                connection -> call(connection, "pg_advisory_lock", lock)
                        .then(whileHolding)
                        .then(call(connection, "pg_advisory_unlock", lock)),
                Connection::close);
    }

    private static Mono<Void> call(Connection connection, String function, String lock) {
        return Mono.defer(() -> Postgres.run(
                connection, "select %s(hashtextextended('%s', 0))".formatted(function, lock.replace("'", "''"))));
    }

    @Override
    public void close() {
        pool.dispose();
    }
}
