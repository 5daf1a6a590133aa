package io.holdfast.examples.quickstart;

import io.holdfast.LockClient;
import io.holdfast.r2dbc.Fence;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import reactor.core.publisher.Mono;

public final class QuickStartPostgres {

    public static void main(String[] args) {
        String address = args.length > 0 ? args[0] : "r2dbc:postgresql://shop:secret@localhost/shop";
        ConnectionFactory connections = ConnectionFactories.get(address);
        LockClient locks = LockClient.create(R2dbcLockBackend.create(connections));

        String sold = locks.lock("stock/42")
                .withLock(lease -> Mono.usingWhen(
                        connections.create(),
                        connection -> Mono.from(connection.beginTransaction())
                                .then(Fence.check(connection, lease)) // before you read
                                // here your statements read and write, on this connection
                                .then(Mono.defer(() -> Mono.from(connection.commitTransaction())))
                                .thenReturn("sold with token " + lease.fencingToken()),
                        Connection::close,
                        (connection, error) -> rollback(connection),
                        connection -> rollback(connection)))
                .block();
        System.out.println(sold);
        locks.close().block();
    }

    private static Mono<Void> rollback(Connection connection) { // and close, also when the rollback fails
        return Mono.from(connection.rollbackTransaction()).onErrorComplete().then(Mono.from(connection.close()));
    }
}
