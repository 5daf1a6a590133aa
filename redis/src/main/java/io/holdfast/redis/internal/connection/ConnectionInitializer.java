package io.holdfast.redis.internal.connection;

import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletableFuture;

/** What is done with a new connection before the first command of a lock goes over it. */
@FunctionalInterface
public interface ConnectionInitializer {

    /** Nothing. */
    ConnectionInitializer NONE = (link, made) -> CompletableFuture.completedFuture(made);

    /** Completes with the same connection, or fails when it is of no use; then it is closed. */
    CompletableFuture<StatefulRedisConnection<String, String>> prepare(
            CommandLink link, StatefulRedisConnection<String, String> made);
}
