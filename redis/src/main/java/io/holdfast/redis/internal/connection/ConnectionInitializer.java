package io.holdfast.redis.internal.connection;

import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletableFuture;

/** Prepares each new connection before the first command of a lock. */
@FunctionalInterface
public interface ConnectionInitializer {

    /** Does nothing. */
    ConnectionInitializer NONE = (link, made) -> CompletableFuture.completedFuture(null);

    /** Completes when the connection can be used, or fails if it cannot: then the link closes it. */
    CompletableFuture<?> prepare(CommandLink link, StatefulRedisPubSubConnection<String, String> made);

    /** The link has left its connection, and makes another one when it is asked to; or it has ended. */
    default void left(CommandLink link) {}

    /** Prepares a connection by this one, and then by the other one. */
    default ConnectionInitializer then(ConnectionInitializer other) {
        ConnectionInitializer first = this;
        return new ConnectionInitializer() {
            @Override
            public CompletableFuture<?> prepare(CommandLink link, StatefulRedisPubSubConnection<String, String> made) {
                return first.prepare(link, made).thenCompose(prepared -> other.prepare(link, made));
            }

            @Override
            public void left(CommandLink link) {
                first.left(link);
                other.left(link);
            }
        };
    }
}
