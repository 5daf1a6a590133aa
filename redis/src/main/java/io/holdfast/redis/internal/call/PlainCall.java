package io.holdfast.redis.internal.call;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One subscription to one command of the driver, to one server. It sends the command when the subscriber requests the
 * answer, not before: some operators subscribe ahead of demand. After a cancellation it sends nothing.
 */
public final class PlainCall<T> implements Disposable {

    private final CommandLink link;
    private final Function<RedisAsyncCommands<String, String>, RedisFuture<T>> command;
    private final MonoSink<T> sink;

    private final AtomicBoolean isStarted = new AtomicBoolean();

    /** Written by the canceller. */
    private volatile boolean isCancelled;

    private PlainCall(
            CommandLink link, Function<RedisAsyncCommands<String, String>, RedisFuture<T>> command, MonoSink<T> sink) {
        this.link = link;
        this.command = command;
        this.sink = sink;
    }

    /** Emits the answer, or the driver's error. */
    public static <T> Mono<T> send(
            CommandLink link, Function<RedisAsyncCommands<String, String>, RedisFuture<T>> command) {
        return Mono.create(sink -> {
            PlainCall<T> call = new PlainCall<>(link, command, sink);
            sink.onCancel(call).onRequest(wanted -> call.start());
        });
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
            } else {
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
