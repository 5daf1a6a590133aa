package io.holdfast.benchmarks.peer;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import reactor.core.publisher.Mono;

/** One committed update after another. */
final class CommitPeer implements Peer {

    private final ConnectionPool pool;

    CommitPeer(Postgres server) {
        pool = server.pool(1);
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.usingWhen(
                        pool.create(),
                        connection -> Postgres.run(connection, "update committed set count = count + 1 where id = 1"),
                        Connection::close)
                .then(whileHolding);
    }

    @Override
    public void close() {
        pool.dispose();
    }
}
