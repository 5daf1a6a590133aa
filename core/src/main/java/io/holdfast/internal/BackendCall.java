package io.holdfast.internal;

import io.holdfast.LockBackendException;
import io.holdfast.LockQueueFullException;
import io.holdfast.internal.AlarmClock.Alarm;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.util.context.Context;

/**
 * One operation of the back end with its time limit: exactly one of answer and failure is told, once.
 *
 * <p>Nobody can cancel it: an answer that was asked for is awaited, because it decides what has to be undone. When the time is up, the
 * subscription is cancelled, so that a request which was not sent yet never is; from then on its outcome is unknown. Only a release
 * that is being sent at that moment goes out: there may be no other one, and it can do no harm.
 *
 * <p>It is itself the alarm of its time limit, which is set when it was sent: a back end that answers at once, on the same thread, needs none.
 */
final class BackendCall<T> extends Alarm implements CoreSubscriber<T> {

    /** What is asked of the back end, told how that ended. */
    interface Request<T> {

        /** For messages, such as "release". */
        String what();

        /** The back end's publisher; it is subscribed to once. */
        Publisher<T> ask();

        void answered(T answer);

        void failed(LockBackendException error);

        /** Whether it goes out although its time was up, or the client closed, while it was being sent. */
        default boolean isSentThoughOver() {
            return false;
        }

        /** Only an attempt can be: no place in the queue was taken. */
        default void refused(LockQueueFullException error) {
            failed(new LockBackendException(
                    error.lockName(), "refused unexpectedly: " + error.getMessage(), false, error));
        }
    }

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<BackendCall> TOLD =
            AtomicIntegerFieldUpdater.newUpdater(BackendCall.class, "told");

    private final Engine engine;
    private final String lockName;
    private final long limitNanos;
    private final Context context;
    private final Request<T> request;

    /** 1 when the outcome was told. */
    private volatile int told;

    /** Written once, by the thread that sends, before it sets the alarm. */
    private volatile boolean isLimited;

    /** Written by the back end's thread, read by the timer's. */
    private volatile @Nullable Subscription subscription;

    private BackendCall(Engine engine, String lockName, long limitNanos, Context context, Request<T> request) {
        this.engine = engine;
        this.lockName = lockName;
        this.limitNanos = limitNanos;
        this.context = context;
        this.request = request;
    }

    /**
     * Asks.
     *
     * @param nowNanos the time limit counts from then
     */
    static <T> void start(
            Engine engine, String lockName, long limitNanos, Context context, Request<T> request, long nowNanos) {
        BackendCall<T> call = new BackendCall<>(engine, lockName, limitNanos, context, request);
        try {
            request.ask().subscribe(call);
        } catch (RuntimeException thrown) {
            call.onError(thrown);
        }
        call.sent(nowNanos);
    }

    /**
     * Sets the alarm, unless the answer has come already. The first request of a process loads the classes of the store's driver, here, on the
     * caller's thread. That is none of the store's time: if it took longer than the limit, that counts from now. And a machine that took so
     * long to send may take as long to hear the answer.
     */
    private void sent(long begunNanos) {
        if (told != 0) {
            return;
        }
        long now = engine.alarms.now();
        long took = now - begunNanos;
        isLimited = true; // first: the thread that answers looks at it after it has told
        engine.alarms.set(this, took < limitNanos ? begunNanos + limitNanos : now + took);
        if (told != 0) {
            engine.alarms.off(this); // answered meanwhile, perhaps before it was set
        } else if (engine.alarms.isClosed()) {
            ring();
        }
    }

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    public void onSubscribe(Subscription s) {
        subscription = s;
        if (told == 0 || request.isSentThoughOver()) {
            s.request(Long.MAX_VALUE);
        } else {
            s.cancel();
        }
    }

    @Override
    public void onNext(T answer) {
        if (TOLD.compareAndSet(this, 0, 1)) {
            alarmOff();
            request.answered(answer);
        }
    }

    @Override
    public void onError(Throwable error) {
        Exceptions.throwIfJvmFatal(error);
        if (TOLD.compareAndSet(this, 0, 1)) {
            alarmOff();
            if (error instanceof LockQueueFullException full) {
                request.refused(full);
            } else {
                request.failed(asBackendException(error));
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
        if (told == 0) {
            onError(new LockBackendException(lockName, describe("completed without an answer"), false, null));
        }
    }

    @Override
    boolean ringsAtClose() {
        return true;
    }

    /** The time is up. */
    @Override
    void ring() {
        if (!TOLD.compareAndSet(this, 0, 1)) {
            return;
        }
        Subscription s = subscription;
        if (s != null) {
            s.cancel();
        }
        String message = describe(
                "was not answered within %d ms, so its outcome is unknown; is the store reachable, and is the operation timeout long enough?"
                        .formatted(Duration.ofNanos(limitNanos).toMillis()));
        request.failed(new LockBackendException(lockName, message, true, null));
    }

    private LockBackendException asBackendException(Throwable error) {
        return error instanceof LockBackendException known
                ? known
                : new LockBackendException(lockName, describe("failed unexpectedly: " + error), false, error);
    }

    private String describe(String end) {
        return lockName.isEmpty()
                ? "%s of back end %s %s".formatted(request.what(), engine.backend.name(), end)
                : "%s of lock '%s' on back end %s %s".formatted(request.what(), lockName, engine.backend.name(), end);
    }
}
