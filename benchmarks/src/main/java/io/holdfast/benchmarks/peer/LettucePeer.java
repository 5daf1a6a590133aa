package io.holdfast.benchmarks.peer;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import reactor.core.publisher.Mono;

/** The fewest commands that can make a lock, on one connection. */
final class LettucePeer implements Peer {

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RawLock raw;

    LettucePeer(String uri) {
        client = RedisClient.create(RedisURI.create(uri));
        connection = client.connect();
        raw = new RawLock(connection);
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.fromCompletionStage(() -> {
            String value = RawLock.newValue();
            return raw.take(lock, value).thenCompose(isTaken -> {
                if (!isTaken) {
                    throw new IllegalStateException("'%s' is taken, and this way to lock cannot wait".formatted(lock));
                }
                return whileHolding
                        .toFuture()
                        .thenCompose(nothing -> raw.giveBack(lock, value))
                        .thenAccept(isGivenBack -> {});
            });
        });
    }

    @Override
    public void close() {
        connection.close();
        LettuceEnd.shutDown(client);
    }
}
