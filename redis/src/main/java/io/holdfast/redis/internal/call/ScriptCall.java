package io.holdfast.redis.internal.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockException;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.error.KnownError;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.redis.internal.script.ReplyDecoder;
import io.holdfast.redis.internal.script.ScriptCommand;
import io.holdfast.redis.internal.script.ScriptPipeline;
import io.holdfast.redis.internal.script.ScriptRequest;
import io.holdfast.redis.internal.topology.Destination;
import io.holdfast.redis.internal.topology.Topology;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * One subscription to one script. When the subscriber requests the answer, it sends the script, again if the server
 * did not know it, and emits the answer. After a cancellation it sends nothing more, and withdraws a command that is not
 * written yet.
 */
final class ScriptCall<T> implements Subscription, ScriptPipeline.Call, ScriptCommand.Sender<T>, Runnable {

    /** How often a command is redirected: if a cluster redirects it more often, its slots have to settle first. */
    private static final int MOST_REDIRECTIONS = 5;

    private static final int IDLE = 0;
    private static final int STARTED = 1;
    private static final int ENDED = 2;
    private static final int CANCELLED = 3;

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicIntegerFieldUpdater<ScriptCall> STAGE =
            AtomicIntegerFieldUpdater.newUpdater(ScriptCall.class, "stage");

    private final Topology topology;
    private final ExceptionTranslator failures;
    private final ScriptRequest<T> request;

    /** Set while the slot of the lock moves: the request with its first key only. Written like {@link #destination}. */
    private @Nullable ScriptRequest<T> ofFirstKey;

    /**
     * Null after a cancellation: the driver keeps an unanswered command, and with it everything that waits for the
     * answer.
     */
    private @Nullable CoreSubscriber<? super T> subscriber;

    private volatile int stage;

    /** Written by the driver's thread, one answer at a time. */
    private int redirections;

    /** Written by the driver's thread, one answer at a time. */
    private int lacks;

    /** Where to send next, and on which connection. Written before the call enters the link's queue, or within it. */
    private @Nullable Destination destination;

    private @Nullable StatefulRedisConnection<String, String> connection;

    /** The command under way. Written within the queue of a link. */
    private volatile @Nullable ScriptCommand<?, T> command;

    ScriptCall(
            Topology topology,
            ExceptionTranslator failures,
            ScriptRequest<T> request,
            CoreSubscriber<? super T> subscriber) {
        this.topology = topology;
        this.failures = failures;
        this.request = request;
        this.subscriber = subscriber;
    }

    /**
     * Starts with the first demand: some Reactor operators subscribe before they request, and without demand the
     * subscriber could not receive the lock.
     */
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
        if (topology.isClosed()) {
            refuse(failures.closed(request.subject().get()));
            return;
        }
        CompletableFuture<CommandLink> found = topology.linkFor(request.firstKey());
        CommandLink known = found.isCompletedExceptionally() ? null : found.getNow(null);
        if (known != null) {
            send(new Destination(known, false)); // nearly always
            return;
        }
        var unused = found.whenComplete((link, error) -> {
            if (error == null) {
                send(new Destination(link, false));
            } else {
                end(error, false);
            }
        });
    }

    private void send(Destination to) {
        destination = to;
        StatefulRedisConnection<String, String> ready = to.link().ready();
        if (ready != null) {
            connection = ready;
            to.link().inOrderWithOthers(this);
            return;
        }
        to.link().whenConnected((made, error) -> {
            if (made != null) {
                connection = made;
                run();
            } else if (error != null) {
                topology.suspect(to.link());
                end(error, false);
            }
        });
    }

    /** Its turn within the queue of the link has come. */
    @Override
    public void run() {
        if (isWanted() && sentTo().scripts().admits(this)) {
            send(false);
        }
    }

    private void send(boolean bringsScript) {
        try {
            ScriptRequest<T> now = ofFirstKey == null ? request : ofFirstKey;
            dispatch(bringsScript ? CommandType.EVAL : CommandType.EVALSHA, now, now.decoder());
        } catch (RuntimeException | Error thrown) { // a lack of memory, for example
            end(thrown);
        }
    }

    private <R> void dispatch(CommandType type, ScriptRequest<T> now, ReplyDecoder<R, T> decoder) {
        Destination to = requireNonNull(destination);
        ScriptCommand<R, T> sent =
                new ScriptCommand<>(this, to.link().scripts(), requireNonNull(connection), type, now, decoder);
        command = sent;
        if (isWanted()) { // checked after the canceller could see what to withdraw
            to.link().scripts().send(sent, to.asking());
        }
    }

    private boolean isWanted() {
        return stage == STARTED;
    }

    @Override
    public LuaScript script() {
        return request.script();
    }

    @Override
    public boolean lacksItAgain() {
        return lacks > 1;
    }

    /** Goes on at once, if it can: calls that came later are in the queue already. */
    @Override
    public void goOn(boolean bringsScript) {
        if (!isWanted()) {
            return;
        }
        Destination to = requireNonNull(destination);
        connection = to.link().ready();
        if (connection == null) {
            send(to);
        } else {
            send(bringsScript);
        }
    }

    @Override
    public <R> void answered(ScriptCommand<R, T> answered, R reply) {
        try {
            T decoded;
            try {
                decoded = answered.decoder().decode(reply);
            } catch (LockException refused) {
                refuse(refused);
                return;
            }
            succeed(decoded);
        } catch (RuntimeException | Error thrown) {
            end(thrown);
        }
    }

    /** Sends a command that was not carried out again, unless the subscriber has cancelled. */
    @Override
    public void failed(ScriptCommand<?, T> failed, Throwable error) {
        try {
            CommandLink link = sentTo();
            if (error instanceof RedisNoScriptException && !failed.bringsScript()) {
                lacks++;
                link.scripts().again(this);
                return;
            }
            topology.refused(link, failed.connection(), error);
            Destination next = isWanted() ? topology.redirected(link.uri(), error) : null;
            if (next == null && isWanted() && ofFirstKey == null && KnownError.isOfMovingSlot(error)) {
                ofFirstKey = request.ofFirstKey();
                if (ofFirstKey != null) {
                    start(); // at the old master: only that one knows whether the key is still there
                    return;
                }
            }
            if (next == null) {
                fail(failed, error);
            } else if (redirections++ < MOST_REDIRECTIONS) {
                send(next);
            } else {
                fail(failed, new RedisException("redirected too often", error));
            }
        } catch (RuntimeException | Error thrown) {
            end(thrown); // the driver would write it to its log, and the subscriber would wait for ever
        }
    }

    /** Returns the server of the command that is under way, or was last. */
    private CommandLink sentTo() {
        return requireNonNull(destination, "sent without a server").link();
    }

    private void fail(ScriptCommand<?, T> failed, Throwable error) {
        if (!isWanted()) {
            return;
        }
        if (KnownError.isAnswer(error)) {
            end(error, !KnownError.isRefusal(error));
        } else {
            CommandLink link = sentTo();
            topology.suspect(link);
            if (error instanceof RedisCommandTimeoutException) { // a command of an inspector, which has no engine
                link.doubt(failed.connection(), () -> topology.suspect(link));
            }
            boolean isUnderWay = !ExceptionTranslator.isUnsent(error);
            if (isUnderWay) {
                request.onUnknown().run();
            }
            end(link.explained(error), isUnderWay);
        }
    }

    private void succeed(T answer) {
        if (!STAGE.compareAndSet(this, STARTED, ENDED)) {
            return;
        }
        CoreSubscriber<? super T> waiting = waiting();
        try {
            waiting.onNext(answer);
        } catch (RuntimeException | Error thrown) {
            waiting.onError(Operators.onOperatorError(null, thrown, answer, waiting.currentContext()));
            return;
        }
        waiting.onComplete();
    }

    /** Returns the subscriber of a call that has ended and was not cancelled. */
    private CoreSubscriber<? super T> waiting() {
        return requireNonNull(subscriber, "cancelled after its end");
    }

    private void end(Throwable error) {
        end(error, true);
    }

    private void end(Throwable error, boolean isUnderWay) {
        if (isWanted()) {
            refuse(failures.of(request.subject().get(), error, isUnderWay));
        }
    }

    /** Fails the subscriber; after a cancellation it gets no error. */
    private void refuse(LockException error) {
        if (STAGE.compareAndSet(this, STARTED, ENDED)) {
            waiting().onError(error);
        }
    }

    @Override
    public void cancel() {
        if (!STAGE.compareAndSet(this, STARTED, CANCELLED)) {
            boolean unused = STAGE.compareAndSet(this, IDLE, CANCELLED);
            return;
        }
        subscriber = null;
        ScriptCommand<?, T> sent = command;
        if (sent != null && !sent.isDone()) {
            request.onUnknown().run();
            sent.withdraw();
        }
        Destination to = destination;
        if (to != null) {
            // Most often the caller's time limit has passed. The connection may be dead.
            to.link().doubt(to.link().ready(), () -> topology.suspect(to.link()));
        }
    }
}
