package io.holdfast.redis.internal.connection;

import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One subscription to one command of the driver, to one server. It sends the command when the subscriber requests the
 * answer, not before: some operators subscribe ahead of demand. After a cancellation it sends nothing.
 */
public final class ServerQuery<T> implements Disposable {

    private final CommandLink link;
    private final Function<RedisAsyncCommands<String, String>, RedisFuture<T>> command;
    private final MonoSink<T> sink;

    private final AtomicBoolean isStarted = new AtomicBoolean();

    /** Written by the canceller. */
    private volatile boolean isCancelled;

    private ServerQuery(
            CommandLink link, Function<RedisAsyncCommands<String, String>, RedisFuture<T>> command, MonoSink<T> sink) {
        this.link = link;
        this.command = command;
        this.sink = sink;
    }

    /** Emits the answer, or the driver's error. */
    public static <T> Mono<T> send(
            CommandLink link, Function<RedisAsyncCommands<String, String>, RedisFuture<T>> command) {
        return Mono.create(sink -> {
            ServerQuery<T> query = new ServerQuery<>(link, command, sink);
            sink.onCancel(query).onRequest(wanted -> query.start());
        });
    }

    /** Returns the answer to INFO with one section. */
    public static CompletableFuture<String> info(CommandLink link, String section) {
        return send(link, commands -> commands.info(section)).toFuture();
    }

    /** Returns the answer to CLUSTER SLOTS. */
    public static CompletableFuture<List<Object>> clusterSlots(CommandLink link) {
        return send(link, RedisClusterAsyncCommands::clusterSlots).toFuture();
    }

    private void start() {
        if (!isStarted.compareAndSet(false, true)) {
            return;
        }
        link.whenConnected((connection, error) -> {
            if (connection != null) {
                link.inOrder(() -> send(connection));
            } else if (error != null) {
                sink.error(error);
            }
        });
    }

    private void send(StatefulRedisConnection<String, String> connection) {
        if (isCancelled) {
            return;
        }
        link.asked();
        var unused = command.apply(connection.async()).whenComplete((answer, error) -> {
            if (error == null || KnownError.isAnswer(error)) {
                link.answered();
            } else if (error instanceof RedisCommandTimeoutException) {
                link.doubt(connection, () -> {});
            }
            if (error == null) {
                sink.success(answer);
            } else if (!isCancelled) { // Reactor would log it as dropped
                sink.error(link.explained(error));
            }
        });
    }

    @Override
    public void dispose() {
        isCancelled = true;
    }

    @Override
    public boolean isDisposed() {
        return isCancelled;
    }
}
