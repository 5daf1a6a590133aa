package io.holdfast.internal.engine;

import io.holdfast.LockBackendException;
import io.holdfast.LockQueueFullException;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.internal.timing.Turn;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * One operation of the back end with its time limit. It passes on as many answers as expected, usually one, or a failure
 * in place of those that are missing.
 *
 * <p>No caller can cancel it: the client waits for the answer, because it shows what to undo. When the time is over,
 * the call cancels the subscription, so a request that was not sent yet is never sent. From then on the outcome is
 * unknown. Only a release that is being sent at that moment goes out: there may be no other release, and it does no
 * harm.
 *
 * <p>The call is also the alarm of its time limit. The alarm is set after the request was sent: a back end that answers
 * at once, on the same thread, needs none.
 */
public final class BackendCall<T> extends Alarm implements CoreSubscriber<T> {

    public interface Request<T> {

        String what();

        Publisher<T> ask();

        void answered(T answer);

        void failed(LockBackendException error, int answered);

        default int expected() {
            return 1;
        }

        /** Whether it goes out although its time ended, or the client closed, while it was being sent. */
        default boolean isSentThoughOver() {
            return false;
        }

        /** Only an attempt can meet a full queue. */
        default void refused(LockQueueFullException error) {
            String message = "refused unexpectedly: " + error.getMessage();
            failed(new LockBackendException(error.lockName(), message, false, error), 0);
        }
    }

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<BackendCall> SETTLED =
            AtomicIntegerFieldUpdater.newUpdater(BackendCall.class, "settled");

    private final Engine engine;
    private final String lockName;
    private final long limitNanos;
    private final Context context;
    private final Request<T> request;
    private final int expected;

    /** How many answers have their outcome: the thread that raises it passes on those in between. */
    private volatile int settled;

    /** Written once, by the sending thread, before it sets the alarm. */
    private volatile boolean isLimited;

    /** Written by the back end's thread, read by the timer's thread. */
    private volatile @Nullable Subscription subscription;

    private BackendCall(Engine engine, String lockName, long limitNanos, Context context, Request<T> request) {
        this.engine = engine;
        this.lockName = lockName;
        this.limitNanos = limitNanos;
        this.context = context;
        this.request = request;
        expected = request.expected();
    }

    public static <T> void start(LockSettings lock, Context context, Request<T> request, long nowNanos) {
        start(lock.engine(), lock.name(), lock.operationNanos(), context, request, nowNanos);
    }

    public static <T> void start(
            Engine engine, String lockName, long limitNanos, Context context, Request<T> request, long nowNanos) {
        BackendCall<T> call = new BackendCall<>(engine, lockName, limitNanos, context, request);
        try {
            request.ask().subscribe(call);
        } catch (Throwable thrown) {
            call.onError(thrown);
        }
        call.sent(nowNanos);
    }

    /** Sends a request for each subscription, until the client closes. A cancellation does not end the request. */
    public static <T> Mono<T> mono(
            Engine engine, String lockName, String what, long limitNanos, Supplier<? extends Publisher<T>> request) {
        return Mono.create(sink -> {
            if (engine.isClosed()) {
                sink.error(engine.closedException(lockName));
                return;
            }
            Request<T> asked = new Request<>() {

                @Override
                public String what() {
                    return what;
                }

                @Override
                public Publisher<T> ask() {
                    return request.get();
                }

                @Override
                public void answered(T answer) {
                    sink.success(answer);
                }

                @Override
                public void failed(LockBackendException error, int answered) {
                    // Closing ends a request that is under way like a timeout.
                    Throwable end = engine.isClosed() ? engine.closedException(lockName) : error;
                    Turn.runUsersCode(() -> sink.error(end));
                }
            };
            start(engine, lockName, limitNanos, Context.of(sink.contextView()), asked, engine.alarms.now());
        });
    }

    /**
     * Sets the alarm, unless the answer has arrived. The first request of a process loads the classes of the driver,
     * here; if that took longer than the limit, the limit counts from now, and is as long as that took.
     */
    private void sent(long begunNanos) {
        if (isOver()) {
            return;
        }
        long now = engine.alarms.now();
        long took = now - begunNanos;
        isLimited = true; // before the alarm is set: the answering thread reads it after it has passed on the answer
        engine.alarms.set(this, took < limitNanos ? begunNanos + limitNanos : now + took);
        if (isOver()) {
            engine.alarms.off(this); // answered meanwhile, perhaps before the alarm was set
        }
    }

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    public void onSubscribe(Subscription s) {
        subscription = s;
        if (!isOver() || request.isSentThoughOver()) {
            s.request(Long.MAX_VALUE);
        } else {
            s.cancel();
        }
    }

    @Override
    public void onNext(T answer) {
        int number = settled;
        if (number == expected || !SETTLED.compareAndSet(this, number, number + 1)) {
            return; // one answer too many, or too late
        }
        if (number + 1 == expected) {
            alarmOff();
        }
        request.answered(answer);
    }

    private boolean isOver() {
        return settled == expected;
    }

    @Override
    public void onError(Throwable error) {
        int answered = SETTLED.getAndSet(this, expected);
        if (answered != expected) {
            alarmOff();
            if (error instanceof LockQueueFullException full) {
                request.refused(full);
            } else {
                request.failed(asBackendException(error), answered);
            }
        }
    }

    private void alarmOff() {
        if (isLimited) {
            engine.alarms.off(this);
        }
    }

    @Override
    public void onComplete() {
        int answered = settled;
        if (answered < expected) {
            String end = expected == 1
                    ? "completed without an answer"
                    : "completed with %d of %d answers".formatted(answered, expected);
            onError(new LockBackendException(lockName, describe(end), expected > 1, null));
        }
    }

    @Override
    public boolean ringsAtClose() {
        return true;
    }

    @Override
    public void ring() {
        int answered = SETTLED.getAndSet(this, expected);
        if (answered == expected) {
            return;
        }
        Subscription s = subscription;
        if (s != null) {
            s.cancel();
        }
        String message = describe(
                "was not answered within %d ms, so its outcome is unknown; is the server reachable, and is the operation timeout long enough?"
                        .formatted(Duration.ofNanos(limitNanos).toMillis()));
        request.failed(new LockBackendException(lockName, message, true, null), answered);
    }

    private LockBackendException asBackendException(Throwable error) {
        return error instanceof LockBackendException known
                ? known
                : new LockBackendException(lockName, describe("failed unexpectedly: " + error), false, error);
    }

    private String describe(String end) {
        String ofLock = lockName.isEmpty() ? "" : " of lock '%s'".formatted(lockName);
        String on = lockName.isEmpty() ? "of" : "on";
        return "%s%s %s back end %s %s".formatted(request.what(), ofLock, on, engine.backend.name(), end);
    }
}
