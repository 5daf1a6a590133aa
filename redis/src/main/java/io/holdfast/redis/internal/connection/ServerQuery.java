package io.holdfast.redis.internal.connection;

import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Commands about the server itself, on the connection of the locks. */
public final class ServerQuery {

    private ServerQuery() {}

    /** Returns the answer to INFO with one section. */
    public static CompletableFuture<String> info(CommandLink link, String section) {
        return send(link, made -> made.async().info(section));
    }

    public static CompletableFuture<String> ping(CommandLink link) {
        return send(link, made -> made.async().ping());
    }

    /** Returns the answer to CLUSTER SLOTS. */
    public static CompletableFuture<List<Object>> clusterSlots(CommandLink link) {
        return send(link, made -> made.async().clusterSlots());
    }

    private static <T> CompletableFuture<T> send(
            CommandLink link, Function<StatefulRedisConnection<String, String>, RedisFuture<T>> command) {
        return link.made().thenCompose(made -> {
            CompletableFuture<T> result = new CompletableFuture<>();
            link.inOrder(() -> {
                link.asked();
                var unused = command.apply(made).whenComplete((answer, error) -> {
                    if (error == null || KnownError.isAnswer(error)) {
                        link.answered();
                    }
                    if (error == null) {
                        result.complete(answer);
                    } else {
                        result.completeExceptionally(error);
                    }
                });
            });
            return result;
        });
    }
}
