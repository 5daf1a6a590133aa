package io.holdfast.redis;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One subscription to one script: sends EVALSHA, once more as EVAL when the server does not know the script, and passes the
 * answer on. After a cancellation nothing is sent any more, and a command that is not written yet is withdrawn.
 */
final class ScriptCall<T> implements Disposable {

    private final CommandLink link;
    private final RedisFailures failures;
    private final Request<T> request;
    private final MonoSink<T> sink;

    /** Written by the canceller. */
    private volatile boolean isCancelled;

    /** Written by whoever sends: the subscriber, or the driver's thread. */
    private volatile @Nullable AsyncCommand<String, String, long[]> command;

    /**
     * What to send and what to make of it.
     *
     * @param keys the script's KEYS
     * @param args the script's ARGV
     * @param answers how many numbers it answers
     * @param decode from those numbers
     * @param subject for messages; called only for a failure
     * @param onUnknown called once when the command was sent and no answer will be seen
     */
    record Request<T>(
            LuaScript script,
            List<String> keys,
            List<String> args,
            int answers,
            Function<long[], T> decode,
            Supplier<RedisFailures.Subject> subject,
            Runnable onUnknown) {}

    private ScriptCall(CommandLink link, RedisFailures failures, Request<T> request, MonoSink<T> sink) {
        this.link = link;
        this.failures = failures;
        this.request = request;
        this.sink = sink;
    }

    static <T> Mono<T> send(CommandLink link, RedisFailures failures, Request<T> request) {
        return Mono.create(sink -> new ScriptCall<>(link, failures, request, sink).start());
    }

    private void start() {
        if (link.isClosed()) {
            sink.error(failures.closed(request.subject().get()));
            return;
        }
        sink.onCancel(this);
        StatefulRedisConnection<String, String> ready = link.ready();
        if (ready != null) {
            send(ready, CommandType.EVALSHA);
            return;
        }
        link.whenConnected((connection, error) -> {
            if (connection != null) {
                send(connection, CommandType.EVALSHA);
            } else if (error != null && !isCancelled) {
                sink.error(failures.of(request.subject().get(), error));
            }
        });
    }

    private void send(StatefulRedisConnection<String, String> connection, CommandType type) {
        AsyncCommand<String, String, long[]> sent =
                new AsyncCommand<>(new Command<>(type, new NumbersOutput(request.answers()), args(type)));
        command = sent;
        sent.onComplete((reply, error) -> {
            if (error == null) {
                answer(reply);
            } else if (error instanceof RedisNoScriptException && type == CommandType.EVALSHA) {
                send(connection, CommandType.EVAL);
            } else {
                fail(error);
            }
        });
        link.inOrder(() -> {
            if (!isCancelled) {
                connection.dispatch(sent);
            }
        });
    }

    /** As bytes: the driver's codec would take a buffer from the allocator for each of them. */
    private CommandArgs<String, String> args(CommandType type) {
        LuaScript script = request.script();
        CommandArgs<String, String> all = new CommandArgs<>(StringCodec.UTF8)
                .add(type == CommandType.EVAL ? utf8(script.body()) : utf8(script.sha()))
                .add(request.keys().size());
        request.keys().forEach(key -> all.add(utf8(key)));
        request.args().forEach(arg -> all.add(utf8(arg)));
        return all;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void answer(long[] reply) {
        T decoded;
        try {
            decoded = request.decode().apply(reply);
        } catch (RuntimeException malformed) {
            sink.error(failures.of(request.subject().get(), malformed));
            return;
        }
        sink.success(decoded);
    }

    private void fail(Throwable error) {
        if (isCancelled) {
            return;
        }
        if (!RedisFailures.isAnswer(error) && !RedisFailures.isUnsent(error)) {
            request.onUnknown().run();
        }
        sink.error(failures.of(request.subject().get(), error));
    }

    @Override
    public void dispose() {
        isCancelled = true;
        AsyncCommand<String, String, long[]> sent = command;
        if (sent != null && !sent.isDone()) {
            request.onUnknown().run();
            sent.cancel();
        }
    }

    @Override
    public boolean isDisposed() {
        return isCancelled;
    }
}
