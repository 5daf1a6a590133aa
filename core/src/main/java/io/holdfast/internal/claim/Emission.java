package io.holdfast.internal.claim;

import io.holdfast.internal.engine.Engine;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** The subscriber's side of an acquisition, an export or a downgrade. One atomic field decides how it ends. */
public final class Emission<T> implements Subscription {

    public interface Owner {

        void begin();

        /** The subscriber has cancelled before its signal, and gets none. */
        void left();
    }

    private static final int IDLE = 0;
    private static final int OPEN = 1;
    private static final int EMITTING = 2;
    private static final int LEFT_WHILE_EMITTING = 3;
    private static final int DROPPED_IF_LEFT = 4;
    private static final int OVER = 5;

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<Emission> STAGE =
            AtomicIntegerFieldUpdater.newUpdater(Emission.class, "stage");

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<Emission> ADMITTED =
            AtomicIntegerFieldUpdater.newUpdater(Emission.class, "admitted");

    private final Engine engine;

    /** Dropped with the emission: the client knows its leases, and must not keep alive what the subscriber keeps. */
    private CoreSubscriber<? super T> subscriber;

    private volatile Owner owner;

    /** IDLE until requested, OVER after the signal or the cancellation. */
    private volatile int stage;

    /** 1 while it counts towards the client's limit of waiters. */
    private volatile int admitted;

    // Written by the thread of the first request, before the stage.
    private long startedAtNanos;

    /** Written before and after the emission by its thread. Other threads only compare it with themselves. */
    private @Nullable Thread emitter;

    /** Written before the stage becomes DROPPED_IF_LEFT, read after that. */
    private @Nullable Runnable handedOver;

    public Emission(CoreSubscriber<? super T> subscriber, Engine engine, Owner owner) {
        this.subscriber = subscriber;
        this.engine = engine;
        this.owner = owner;
    }

    /** Makes an emission for each subscription. */
    public static <T> Mono<T> mono(Function<CoreSubscriber<? super T>, Emission<T>> made) {
        return new Mono<>() {
            @Override
            public void subscribe(CoreSubscriber<? super T> subscriber) {
                subscriber.onSubscribe(made.apply(subscriber));
            }
        };
    }

    void handTo(Owner next) {
        owner = next;
    }

    public Context context() {
        return subscriber.currentContext();
    }

    public Duration waited() {
        return Duration.ofNanos(engine.alarms.now() - startedAtNanos);
    }

    public long startedAtNanos() {
        return startedAtNanos;
    }

    boolean isOpen() {
        return stage == OPEN;
    }

    public boolean isOver() {
        return stage >= DROPPED_IF_LEFT;
    }

    /** Returns false when too many wait. A claim that begins again keeps the place of the one before it. */
    boolean admit() {
        if (admitted == 0 && engine.admits()) {
            admitted = 1;
        }
        return admitted == 1;
    }

    /** Leaves once. Called before the signal, since the subscriber may begin another acquisition when it gets it. */
    void dismiss() {
        if (ADMITTED.compareAndSet(this, 1, 0)) {
            engine.dismiss();
        }
    }

    @Override
    public void request(long n) {
        if (Operators.validate(n) && stage == IDLE) {
            startedAtNanos = engine.alarms.now();
            if (STAGE.compareAndSet(this, IDLE, OPEN)) {
                owner.begin();
            }
        }
    }

    @Override
    public void cancel() {
        boolean decided;
        do {
            decided = left(stage); // false when the stage has changed meanwhile, which happens five times at most
        } while (!decided);
    }

    private boolean left(int seen) {
        return switch (seen) {
            case IDLE -> STAGE.compareAndSet(this, IDLE, OVER);
            case OPEN -> {
                boolean left = STAGE.compareAndSet(this, OPEN, OVER);
                if (left) {
                    owner.left();
                }
                yield left;
            }
            // On the emitting thread: the subscriber has its lease and wants no more, like next() and take(1). On any
            // other thread: the subscriber may have dropped the lease, or may have it; this class cannot find out. It
            // has cancelled, so the lease is released.
            case EMITTING ->
                Thread.currentThread().equals(emitter) || STAGE.compareAndSet(this, EMITTING, LEFT_WHILE_EMITTING);
            case DROPPED_IF_LEFT -> {
                Runnable giveBack = handedOver;
                boolean left = STAGE.compareAndSet(this, DROPPED_IF_LEFT, OVER);
                if (left && giveBack != null) {
                    giveBack.run();
                }
                yield left;
            }
            default -> true;
        };
    }

    public void deliver(T value, GuardedLease lease, String lockName) {
        RejectedExecutionException rejected = engine.delivery.rejection(() -> emit(value, lease));
        if (rejected != null) {
            lease.releaseUnused();
            failNow(engine.delivery.refusal(lockName, rejected));
        }
    }

    private void emit(T value, GuardedLease lease) {
        if (!lease.isValid()) {
            Throwable lost = lease.lost();
            lease.releaseUnused();
            failNow(lost);
        } else if (begin()) {
            lease.handedOut();
            emit(value);
        } else {
            lease.releaseUnused();
        }
    }

    /**
     * After true, {@link #emit} follows. False: the subscriber has cancelled before. Other marks than that of a future say
     * nothing yet: the acquisition may be the clean-up of cancelled work, which no cancellation reaches any more.
     */
    public boolean begin() {
        boolean isWanted = !(cancelledBelow() instanceof Future<?>) && STAGE.compareAndSet(this, OPEN, EMITTING);
        if (isWanted) {
            dismiss();
        }
        return isWanted;
    }

    /** Emits the value. A lease is released if the subscriber cancelled meanwhile, or threw. */
    public void emit(T value) {
        boolean isKept = false;
        try {
            isKept = isKept(value);
        } finally {
            subscriber = Operators.emptySubscriber();
            if (!isKept) {
                stage = OVER;
                giveBack(value).run();
            }
        }
    }

    /** A text of an export has no way back: a process may have it. */
    private static Runnable giveBack(Object value) {
        return value instanceof GuardedLease lease ? lease.giveBack() : () -> {};
    }

    private boolean isKept(T value) {
        emitter = Thread.currentThread();
        subscriber.onNext(value);
        // Not after onComplete(): doFinally() marks itself then, after any end, and passes on every cancellation.
        Object cancelled = cancelledBelow();
        subscriber.onComplete();
        emitter = null;
        if (cancelled == null) {
            return STAGE.compareAndSet(this, EMITTING, OVER);
        }
        if (cancelled instanceof Future<?>) {
            return false; // a future never cancels after it has received a value
        }
        // Reactor's own subscribers also mark themselves as cancelled when they have all that they wanted. Such
        // subscribers never cancel afterwards: a cancellation that still arrives was on its way, and the lease was
        // dropped. If the mark is from before the emission, any cancellation from now on releases the lease.
        handedOver = giveBack(value);
        return STAGE.compareAndSet(this, EMITTING, DROPPED_IF_LEFT);
    }

    /**
     * Finds a subscriber further down that drops the lease: it marks itself first, and its cancellation arrives later.
     * The future of {@code toFuture()} cannot be scanned, but it knows whether it was cancelled.
     */
    private @Nullable Object cancelledBelow() {
        Object marked = null;
        Object below = subscriber;
        while (below instanceof Scannable at && at.isScanAvailable()) {
            if (marked == null && at.scanOrDefault(Scannable.Attr.CANCELLED, false)) {
                marked = at;
            }
            below = at.scanUnsafe(Scannable.Attr.ACTUAL);
        }
        return below instanceof Future<?> future && future.isCancelled() ? future : marked;
    }

    public void complete() {
        engine.delivery.run(() -> {
            if (STAGE.compareAndSet(this, OPEN, OVER)) {
                subscriber.onComplete();
            }
        });
    }

    public void fail(Throwable error) {
        dismiss();
        engine.delivery.run(() -> failNow(error));
    }

    void failNow(Throwable error) {
        dismiss();
        if (STAGE.compareAndSet(this, OPEN, OVER)) {
            subscriber.onError(error);
        }
    }
}
