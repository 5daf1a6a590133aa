package io.holdfast.redis;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import java.util.List;
import java.util.concurrent.CancellationException;
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
final class ScriptCall<T> implements Disposable, ScriptLoads.Call {

    /** So often a command is sent on: a cluster that still redirects it then has to settle first. */
    private static final int MOST_REDIRECTIONS = 5;

    private final Route route;
    private final RedisFailures failures;
    private final Request<T> request;
    private final MonoSink<T> sink;

    /** Written by the driver's thread, one answer at a time. */
    private int redirections;

    /** Where it waits for the script to get there. Written and read within the queue of a link. */
    private @Nullable Stop held;

    /** 0 before it is to be sent. Written within the queue of its first link. */
    private long order;

    /** Written by the canceller. */
    private volatile boolean isCancelled;

    /** Written within the queue of a link. */
    private volatile @Nullable Sent command;

    /** Nobody sees it. The driver's own has a stack trace, and a quorum that is complete withdraws what is missing in every round. */
    private static final class Withdrawn extends CancellationException {

        private static final long serialVersionUID = 1;

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    /** What is under way, and where. */
    private record Sent(
            AsyncCommand<String, String, ?> command,
            CommandLink link,
            StatefulRedisConnection<String, String> connection) {}

    /**
     * What to send and what to make of it.
     *
     * @param firstKey by which its server is found
     * @param body what follows the script
     * @param reading what it answers
     * @param subject for messages; called only for a failure
     * @param onUnknown called once when the command was sent and no answer will be seen
     */
    record Request<T>(
            LuaScript script,
            String firstKey,
            Body body,
            Reading<?, T> reading,
            Supplier<RedisFailures.Subject> subject,
            Runnable onUnknown) {

        /** Of arguments without lengthy ones: their lengths, and the line ends. */
        private static final int USUAL_BYTES = 448;

        /** A script that answers so many numbers. */
        Request(
                LuaScript script,
                String firstKey,
                Body body,
                int answers,
                Function<long[], T> decode,
                Supplier<RedisFailures.Subject> subject,
                Runnable onUnknown) {
            this(
                    script,
                    firstKey,
                    body,
                    new Reading<>(link -> new NumbersOutput(answers, error -> link.answered(script, error)), decode),
                    subject,
                    onUnknown);
        }

        /**
         * A command that was not sent yet.
         *
         * @param as the reading, or another one of the same answer
         * @param type EVALSHA, or EVAL for a server that does not know the script
         * @param link the server that it is to be sent to
         */
        <R> AsyncCommand<String, String, R> command(Reading<R, T> as, CommandType type, CommandLink link) {
            ScriptArgs args = new ScriptArgs(USUAL_BYTES + 6 * firstKey.length())
                    .text(type == CommandType.EVAL ? script.body() : script.sha());
            body.write(args, link);
            return new AsyncCommand<>(new Command<>(type, as.output().apply(link), args));
        }
    }

    /** How many KEYS a script gets, those, and its ARGV. */
    @FunctionalInterface
    interface Body {

        /** Appends them, as they are for the server that they are sent to. */
        void write(ScriptArgs to, CommandLink link);

        /** The same for every server. */
        static Body of(List<String> keys, List<String> args) {
            return (to, link) -> {
                to.number(keys.size());
                keys.forEach(to::text);
                args.forEach(to::text);
            };
        }
    }

    /** How the driver collects an answer, and what to make of it. */
    record Reading<R, T>(Function<CommandLink, CommandOutput<String, String, R>> output, Function<R, T> decode) {}

    private ScriptCall(Route route, RedisFailures failures, Request<T> request, MonoSink<T> sink) {
        this.route = route;
        this.failures = failures;
        this.request = request;
        this.sink = sink;
    }

    static <T> Mono<T> send(Route route, RedisFailures failures, Request<T> request) {
        return Mono.create(sink -> new ScriptCall<>(route, failures, request, sink).start());
    }

    private void start() {
        if (route.isClosed()) {
            sink.error(failures.closed(request.subject().get()));
            return;
        }
        sink.onCancel(this);
        var unused = route.linkFor(request.firstKey()).whenComplete((link, error) -> {
            if (error == null) {
                send(new Stop(link, false), CommandType.EVALSHA);
            } else {
                failUnsent(error);
            }
        });
    }

    private void send(Stop stop, CommandType type) {
        StatefulRedisConnection<String, String> ready = stop.link().ready();
        if (ready != null) {
            send(stop, ready, type);
            return;
        }
        stop.link().whenConnected((connection, error) -> {
            if (connection != null) {
                send(stop, connection, type);
            } else if (error != null) {
                route.suspect(stop.link());
                stop.link().ended(request.script(), this, false);
                failUnsent(error);
            }
        });
    }

    private void send(Stop stop, StatefulRedisConnection<String, String> connection, CommandType type) {
        boolean isWhole = type == CommandType.EVAL || stop.link().mayLack(request.script());
        Sent sent = isWhole ? null : made(stop, connection, CommandType.EVALSHA, request.reading());
        stop.link().inOrder(() -> dispatch(stop, connection, sent));
    }

    private <R> Sent made(
            Stop stop, StatefulRedisConnection<String, String> connection, CommandType type, Reading<R, T> reading) {
        AsyncCommand<String, String, R> sent = request.command(reading, type, stop.link());
        sent.onComplete((reply, error) -> {
            try {
                if (type == CommandType.EVAL) {
                    stop.link().ended(request.script(), this, error instanceof Withdrawn);
                }
                if (error == null) {
                    stop.link().answered();
                    answer(reading.decode(), reply);
                } else {
                    refused(stop, type, error);
                }
            } catch (RuntimeException | Error thrown) {
                // It would vanish in the driver's future, and whoever waits for the answer would wait for ever.
                sink.error(failures.of(request.subject().get(), thrown));
            }
        });
        return new Sent(sent, stop.link(), connection);
    }

    /**
     * Within the queue of the link.
     *
     * @param ready what to send; null for the whole script, which one call brings for all
     */
    private void dispatch(Stop stop, StatefulRedisConnection<String, String> connection, @Nullable Sent ready) {
        ScriptLoads loads = stop.link().loads();
        order = order == 0 ? loads.nextOrder() : order;
        if (isCancelled) {
            loads.ended(request.script(), this);
            return;
        }
        if (!loads.admits(this, ready == null)) {
            held = stop;
            return;
        }
        try {
            dispatch(stop, ready == null ? made(stop, connection, CommandType.EVAL, request.reading()) : ready);
        } catch (RuntimeException | Error thrown) {
            // Such as a lack of memory. Whoever waits for the answer, or for the script, would wait for ever.
            loads.ended(request.script(), this);
            sink.error(failures.of(request.subject().get(), thrown));
        }
    }

    private void dispatch(Stop stop, Sent sent) {
        command = sent;
        if (isCancelled) { // looked at after the canceller could see what to withdraw
            stop.link().loads().ended(request.script(), this);
            return;
        }
        try {
            if (stop.asking()) {
                var unused = sent.connection().async().asking();
            }
            stop.link().asked();
            sent.connection().dispatch(sent.command());
        } catch (RuntimeException | Error thrown) {
            boolean unused = sent.command().completeExceptionally(thrown);
        }
    }

    @Override
    public LuaScript script() {
        return request.script();
    }

    @Override
    public String key() {
        return request.firstKey();
    }

    @Override
    public boolean isWanted() {
        return !isCancelled;
    }

    @Override
    public long order() {
        return order;
    }

    /** At once, if it can: what was given later is in the queue already. */
    @Override
    public void proceed(boolean bringsScript) {
        Stop stop = requireNonNull(held);
        StatefulRedisConnection<String, String> ready = stop.link().ready();
        if (ready == null) {
            send(stop, bringsScript ? CommandType.EVAL : CommandType.EVALSHA);
            return;
        }
        Sent sent;
        try {
            sent = bringsScript ? null : made(stop, ready, CommandType.EVALSHA, request.reading());
        } catch (RuntimeException | Error thrown) {
            sink.error(failures.of(request.subject().get(), thrown));
            return;
        }
        dispatch(stop, ready, sent);
    }

    /** What was not carried out is sent again, unless nobody waits for it any more: {@link #send} looks at that. */
    private void refused(Stop stop, CommandType type, Throwable error) {
        Sent sent = command;
        route.refused(stop.link(), sent == null ? null : sent.connection(), error);
        Stop next = isCancelled ? null : route.redirected(stop.link(), error);
        if (error instanceof RedisNoScriptException && type == CommandType.EVALSHA) {
            send(stop, CommandType.EVAL);
        } else if (next == null) {
            fail(stop.link(), error);
        } else if (redirections++ < MOST_REDIRECTIONS) {
            send(next, CommandType.EVALSHA);
        } else {
            fail(stop.link(), new RedisException("redirected too often", error));
        }
    }

    private <R> void answer(Function<R, T> decode, R reply) {
        T decoded;
        try {
            decoded = decode.apply(reply);
        } catch (LockException refused) {
            sink.error(refused);
            return;
        } catch (RuntimeException malformed) {
            sink.error(failures.of(request.subject().get(), malformed));
            return;
        }
        sink.success(decoded);
    }

    private void fail(CommandLink link, Throwable error) {
        if (isCancelled) {
            return;
        }
        if (!KnownError.isAnswer(error)) {
            route.suspect(link);
            doubtIfLate(error);
            if (!RedisFailures.isUnsent(error)) {
                request.onUnknown().run();
            }
        }
        sink.error(failures.of(request.subject().get(), error));
    }

    /** The driver's time limit, for whoever has no engine. */
    private void doubtIfLate(Throwable error) {
        Sent late = command;
        if (error instanceof RedisCommandTimeoutException && late != null) {
            late.link().doubt(late.connection(), () -> route.silent(late.link()));
        }
    }

    private void failUnsent(Throwable error) {
        if (!isCancelled) {
            sink.error(failures.of(request.subject().get(), error));
        }
    }

    @Override
    public void dispose() {
        isCancelled = true;
        Sent sent = command;
        if (sent != null && !sent.command().isDone()) {
            request.onUnknown().run();
            sent.link().unanswered(request.script());
            boolean unused = sent.command().completeExceptionally(new Withdrawn());
            // Its time was up, most often. Is the connection dead?
            sent.link().doubt(sent.connection(), () -> route.silent(sent.link()));
        }
    }

    @Override
    public boolean isDisposed() {
        return isCancelled;
    }
}
