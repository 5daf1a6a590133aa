package io.holdfast.benchmarks.peer;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import java.util.UUID;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The two calls of a cycle, one transaction each. */
final class RawPostgresPeer implements Peer {

    private static final int CONNECTIONS = 3;

    private static final String CALL =
            "select holdfast_call_v1('', 2000, false, array[$1, $2, 'mutex', 'mutex', '1', '1', $3, '30000', '1', 'false', '0'])";

    private final ConnectionPool pool;

    RawPostgresPeer(Postgres server) {
        pool = server.pool(CONNECTIONS);
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.defer(() -> {
            String id = UUID.randomUUID().toString();
            return call("none", lock, id).then(whileHolding).then(call("release", lock, id));
        });
    }

    private Mono<Void> call(String verb, String lock, String id) {
        return Mono.usingWhen(
                pool.create(),
                connection -> Flux.from(connection
                                .createStatement(CALL)
                                .bind("$1", verb)
                                .bind("$2", lock)
                                .bind("$3", id)
                                .execute())
                        .concatMap(result -> result.map(row -> true))
                        .then(),
                Connection::close);
    }

    @Override
    public void close() {
        pool.dispose();
    }
}
