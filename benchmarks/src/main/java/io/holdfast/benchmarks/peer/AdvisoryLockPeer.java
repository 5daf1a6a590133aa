package io.holdfast.benchmarks.peer;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import reactor.core.publisher.Mono;

/** PostgreSQL's advisory locks. Each belongs to a session, so it occupies a connection of the pool until its release. */
final class AdvisoryLockPeer implements Peer {

    /** The connections of each of two processes, out of the hundred that a server accepts by default. */
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
