package io.holdfast.redis;

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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * One subscription to one script: when its answer is requested, sends EVALSHA, once more as EVAL when the server does not know the script,
 * and passes the answer on. After a cancellation nothing is sent any more, and a command that is not written yet is withdrawn.
 */
final class ScriptCall<T> implements Subscription, ScriptLoads.Call, ScriptCommand.Sender<T>, Runnable {

    /** So often a command is sent on: a cluster that still redirects it then has to settle first. */
    private static final int MOST_REDIRECTIONS = 5;

    private static final int IDLE = 0;
    private static final int STARTED = 1;
    private static final int ENDED = 2;
    private static final int CANCELLED = 3;

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicIntegerFieldUpdater<ScriptCall> STAGE =
            AtomicIntegerFieldUpdater.newUpdater(ScriptCall.class, "stage");

    private final Route route;
    private final RedisFailures failures;
    private final Request<T> request;
    private final CoreSubscriber<? super T> subscriber;

    private volatile int stage;

    /** Written by the driver's thread, one answer at a time. */
    private int redirections;

    /** Where it is to be sent next, on which connection, and whether with the script. Written before it enters the link's queue. */
    private @Nullable Stop stop;

    private @Nullable StatefulRedisConnection<String, String> connection;
    private boolean bringsScript;

    /** 0 before it is to be sent. Written within the queue of its first link. */
    private long order;

    /** What is under way. Written within the queue of a link. */
    private volatile @Nullable ScriptCommand<?, T> command;

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

        /** A script that answers so many numbers. */
        Request(
                LuaScript script,
                String firstKey,
                Body body,
                int answers,
                Function<long[], T> decode,
                Supplier<RedisFailures.Subject> subject,
                Runnable onUnknown) {
            this(script, firstKey, body, new Numbers<>(answers, decode), subject, onUnknown);
        }

        /** Appends the script, by its hash or as a whole, and what follows it. */
        ScriptArgs write(ScriptArgs to, CommandType type, CommandLink link) {
            to.text(type == CommandType.EVAL ? script.body() : script.sha());
            body.write(to, link);
            return to;
        }

        /**
         * A command that the driver sends together with others of its own.
         *
         * @param as the reading, or another one of the same answer
         * @param type EVALSHA, or EVAL for a server that does not know the script
         * @param link the server that it is to be sent to
         */
        <R> AsyncCommand<String, String, R> command(Reading<R, T> as, CommandType type, CommandLink link) {
            ScriptArgs args = write(new ScriptArgs(ScriptArgs.USUAL_BYTES), type, link);
            return new AsyncCommand<>(new Command<>(type, as.output(), args));
        }
    }

    /** How many KEYS a script gets, those, and its ARGV. */
    @FunctionalInterface
    interface Body {

        /** Appends them, as they are for the server that they are sent to. Called when the command is written. */
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
    interface Reading<R, T> {

        CommandOutput<String, String, R> output();

        T decode(R reply);

        /** Anything that the driver can collect. */
        static <R, T> Reading<R, T> of(Supplier<CommandOutput<String, String, R>> output, Function<R, T> decode) {
            return new Collected<>(output, decode);
        }
    }

    private record Collected<R, T>(Supplier<CommandOutput<String, String, R>> collector, Function<R, T> meaning)
            implements Reading<R, T> {

        @Override
        public CommandOutput<String, String, R> output() {
            return collector.get();
        }

        @Override
        public T decode(R reply) {
            return meaning.apply(reply);
        }
    }

    /** So many numbers. */
    private record Numbers<T>(int count, Function<long[], T> meaning) implements Reading<long[], T> {

        @Override
        public CommandOutput<String, String, long[]> output() {
            return new NumbersOutput(count);
        }

        @Override
        public T decode(long[] reply) {
            return meaning.apply(reply);
        }
    }

    /** Cold: each subscription asks for a request of its own. */
    private static final class Source<T> extends Mono<T> {

        private final Route route;
        private final RedisFailures failures;
        private final Supplier<Request<T>> request;

        Source(Route route, RedisFailures failures, Supplier<Request<T>> request) {
            this.route = route;
            this.failures = failures;
            this.request = request;
        }

        Mono<T> assembled() {
            return onAssembly(this);
        }

        @Override
        public void subscribe(CoreSubscriber<? super T> subscriber) {
            ScriptCall<T> call;
            try {
                call = new ScriptCall<>(route, failures, request.get(), subscriber);
            } catch (RuntimeException | Error refused) {
                Operators.error(subscriber, Operators.onOperatorError(refused, subscriber.currentContext()));
                return;
            }
            subscriber.onSubscribe(call);
        }
    }

    private ScriptCall(Route route, RedisFailures failures, Request<T> request, CoreSubscriber<? super T> subscriber) {
        this.route = route;
        this.failures = failures;
        this.request = request;
        this.subscriber = subscriber;
    }

    /**
     * The answer to a script.
     *
     * @param request asked for at each subscription; what it throws is signalled
     */
    static <T> Mono<T> send(Route route, RedisFailures failures, Supplier<Request<T>> request) {
        return new Source<>(route, failures, request).assembled();
    }

    /** Some operators subscribe ahead of demand; without any, there would be nobody to give a lock to. */
    @Override
    public void request(long n) {
        if (!Operators.validate(n) || !STAGE.compareAndSet(this, IDLE, STARTED)) {
            return;
        }
        try {
            start();
        } catch (RuntimeException | Error thrown) {
            end(thrown);
        }
    }

    private void start() {
        if (route.isClosed()) {
            refuse(failures.closed(request.subject().get()));
            return;
        }
        CompletableFuture<CommandLink> found = route.linkFor(request.firstKey());
        CommandLink known = found.isCompletedExceptionally() ? null : found.getNow(null);
        if (known != null) {
            send(new Stop(known, false), false); // nearly always
            return;
        }
        var unused = found.whenComplete((link, error) -> {
            if (error == null) {
                send(new Stop(link, false), false);
            } else {
                end(error);
            }
        });
    }

    private void send(Stop to, boolean wholeScript) {
        StatefulRedisConnection<String, String> ready = to.link().ready();
        if (ready != null) {
            send(to, ready, wholeScript);
            return;
        }
        to.link().whenConnected((made, error) -> {
            if (made != null) {
                send(to, made, wholeScript);
            } else if (error != null) {
                route.suspect(to.link());
                to.link().ended(request.script(), this, false);
                end(error);
            }
        });
    }

    private void send(Stop to, StatefulRedisConnection<String, String> on, boolean wholeScript) {
        stop = to;
        connection = on;
        bringsScript = wholeScript || to.link().mayLack(request.script());
        to.link().inOrder(this);
    }

    /** Its turn within the queue of the link. */
    @Override
    public void run() {
        Stop to = stop;
        StatefulRedisConnection<String, String> on = connection;
        if (to == null || on == null) {
            throw new IllegalStateException("in a queue without a place to go to");
        }
        ScriptLoads loads = to.link().loads();
        order = order == 0 ? loads.nextOrder() : order;
        if (!isWanted()) {
            loads.ended(request.script(), this);
            return;
        }
        if (!loads.admits(this, bringsScript)) {
            return; // it proceeds when the script has got there
        }
        try {
            dispatch(to, on, request.reading());
        } catch (RuntimeException | Error thrown) {
            // Such as a lack of memory. Calls that wait for the script would wait for ever.
            loads.ended(request.script(), this);
            end(thrown);
        }
    }

    private <R> void dispatch(Stop to, StatefulRedisConnection<String, String> on, Reading<R, T> reading) {
        ScriptCommand<R, T> sent = new ScriptCommand<>(
                this, to.link(), on, bringsScript ? CommandType.EVAL : CommandType.EVALSHA, request, reading);
        command = sent;
        if (isWanted()) {
            to.link().send(sent, to.asking());
        } else { // looked at after the canceller could see what to withdraw
            to.link().loads().ended(request.script(), this);
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
        return stage == STARTED;
    }

    @Override
    public long order() {
        return order;
    }

    /** At once, if it can: what was given later is in the queue already. */
    @Override
    public void proceed(boolean isToBringScript) {
        Stop to = stop;
        if (to == null) {
            return;
        }
        StatefulRedisConnection<String, String> ready = to.link().ready();
        if (ready == null) {
            send(to, isToBringScript);
            return;
        }
        connection = ready;
        bringsScript = isToBringScript;
        run();
    }

    @Override
    public <R> void answered(ScriptCommand<R, T> answered, R reply) {
        try {
            if (answered.bringsScript()) {
                answered.link().ended(request.script(), this, false);
            }
            T decoded;
            try {
                decoded = answered.reading().decode(reply);
            } catch (LockException refused) {
                refuse(refused);
                return;
            }
            succeed(decoded);
        } catch (RuntimeException | Error thrown) {
            end(thrown);
        }
    }

    /** What was not carried out is sent again, unless its answer is not waited for any more: {@link #run} looks at that. */
    @Override
    public void failed(ScriptCommand<?, T> failed, Throwable error) {
        try {
            CommandLink link = failed.link();
            if (failed.bringsScript()) {
                link.ended(request.script(), this, false);
            }
            route.refused(link, failed.connection(), error);
            Stop next = isWanted() ? route.redirected(link, error) : null;
            if (error instanceof RedisNoScriptException && !failed.bringsScript() && stop != null) {
                send(stop, true);
            } else if (next == null) {
                fail(failed, error);
            } else if (redirections++ < MOST_REDIRECTIONS) {
                send(next, false);
            } else {
                fail(failed, new RedisException("redirected too often", error));
            }
        } catch (RuntimeException | Error thrown) {
            // The driver would write it to its log, and the subscriber would wait for ever.
            end(thrown);
        }
    }

    private void fail(ScriptCommand<?, T> failed, Throwable error) {
        if (!isWanted()) {
            return;
        }
        if (!KnownError.isAnswer(error)) {
            CommandLink link = failed.link();
            route.suspect(link);
            if (error instanceof RedisCommandTimeoutException) { // of an inspector, which has no engine
                link.doubt(failed.connection(), () -> route.silent(link));
            }
            if (!RedisFailures.isUnsent(error)) {
                request.onUnknown().run();
            }
        }
        end(error);
    }

    private void succeed(T answer) {
        if (!STAGE.compareAndSet(this, STARTED, ENDED)) {
            Operators.onDiscard(answer, subscriber.currentContext());
            return;
        }
        try {
            subscriber.onNext(answer);
        } catch (RuntimeException | Error thrown) {
            subscriber.onError(Operators.onOperatorError(null, thrown, answer, subscriber.currentContext()));
            return;
        }
        subscriber.onComplete();
    }

    private void end(Throwable error) {
        if (isWanted()) {
            refuse(failures.of(request.subject().get(), error));
        }
    }

    /** After a cancellation an error concerns nobody. */
    private void refuse(LockException error) {
        if (STAGE.compareAndSet(this, STARTED, ENDED)) {
            subscriber.onError(error);
        }
    }

    @Override
    public void cancel() {
        if (STAGE.getAndSet(this, CANCELLED) != STARTED) {
            return;
        }
        ScriptCommand<?, T> sent = command;
        if (sent == null || sent.isDone()) {
            return;
        }
        CommandLink link = sent.link();
        request.onUnknown().run();
        link.unanswered(request.script());
        sent.withdraw();
        if (sent.bringsScript()) {
            link.ended(request.script(), this, true);
        }
        // Its time was up, most often. Is the connection dead?
        link.doubt(sent.connection(), () -> route.silent(link));
    }
}
