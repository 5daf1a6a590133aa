package io.holdfast.redis.internal.connection;

import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletableFuture;

/** Prepares a new connection before the first command of a lock. */
@FunctionalInterface
public interface ConnectionInitializer {

    /** Does nothing. */
    ConnectionInitializer NONE = (link, made) -> CompletableFuture.completedFuture(made);

    /** Completes with the same connection, or fails if the connection cannot be used; then it is closed. */
    CompletableFuture<StatefulRedisConnection<String, String>> prepare(
            CommandLink link, StatefulRedisConnection<String, String> made);
}
