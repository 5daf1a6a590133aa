package io.holdfast.internal.claim;

import io.holdfast.internal.run.Delivery;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * The subscriber's side of an acquisition. One atomic field decides how it ends: with a lease, with another signal, or
 * with a cancellation.
 *
 * @param <L> the lease of one lock, or of several
 */
public final class Emission<L extends Emission.Returnable> {

    /** A lease that a subscriber may have dropped without seeing it. */
    public interface Returnable {

        /**
         * Returns an action that releases the lease. The action does not keep the user's object from being garbage
         * collected.
         */
        Runnable giveBack();
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

    /** Dropped with the emission: the client knows its leases, and must not keep alive what the subscriber keeps. */
    private CoreSubscriber<? super L> subscriber;

    private final Delivery delivery;

    /** IDLE until requested, OVER after the signal or the cancellation; written by compare-and-set. */
    private volatile int stage;

    /**
     * The thread that emits the lease; written by it, before and after. Other threads only compare it with themselves.
     */
    private @Nullable Thread emitter;

    /**
     * A subscriber that had marked itself before the request. The acquisition may be the clean-up of its cancelled work.
     * Written once, by the thread of the first request, before the acquisition begins.
     */
    private @Nullable Object markedBefore;

    /** Written before the stage becomes DROPPED_IF_LEFT, read after that. */
    private @Nullable Runnable handedOver;

    public Emission(CoreSubscriber<? super L> subscriber, Delivery delivery) {
        this.subscriber = subscriber;
        this.delivery = delivery;
    }

    public Context context() {
        return subscriber.currentContext();
    }

    public boolean isIdle() {
        return stage == IDLE;
    }

    /** Returns whether a signal can still be sent. */
    boolean isOpen() {
        return stage == OPEN;
    }

    public boolean isOver() {
        return stage >= DROPPED_IF_LEFT;
    }

    /** Returns true for the first request. */
    public boolean open() {
        boolean isFirst = STAGE.compareAndSet(this, IDLE, OPEN);
        if (isFirst) {
            markedBefore = cancelledBelow();
        }
        return isFirst;
    }

    /**
     * Handles a cancellation by the subscriber.
     *
     * @param first runs when this ends an acquisition that is under way
     */
    public void leave(Runnable first) {
        boolean decided;
        do {
            decided =
                    leave(stage, first); // false when the stage has changed meanwhile, which happens five times at most
        } while (!decided);
    }

    private boolean leave(int seen, Runnable first) {
        return switch (seen) {
            case IDLE -> STAGE.compareAndSet(this, IDLE, OVER);
            case OPEN -> {
                boolean left = STAGE.compareAndSet(this, OPEN, OVER);
                if (left) {
                    first.run();
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

    /**
     * Decides for the lease and against a cancellation: {@link #emit} follows. Returns false when the subscriber has
     * cancelled before.
     */
    public boolean begin() {
        return !isCancelledSinceTheRequest() && STAGE.compareAndSet(this, OPEN, EMITTING);
    }

    /** Emits the lease, and releases it if the subscriber cancelled meanwhile, or threw. */
    public void emit(L lease) {
        boolean isKept = false;
        try {
            isKept = isKept(lease);
        } finally {
            subscriber = Operators.emptySubscriber();
            if (!isKept) {
                stage = OVER;
                lease.giveBack().run();
            }
        }
    }

    /** Emits the lease. Returns false when the subscriber cancelled meanwhile. */
    private boolean isKept(L lease) {
        emitter = Thread.currentThread();
        subscriber.onNext(lease);
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
        // dropped. If the mark is from before the request, any cancellation from now on releases the lease.
        handedOver = lease.giveBack();
        return STAGE.compareAndSet(this, EMITTING, DROPPED_IF_LEFT);
    }

    /** Returns whether a subscriber has marked itself since the request. */
    private boolean isCancelledSinceTheRequest() {
        Object marked = cancelledBelow();
        return marked != null && marked != markedBefore;
    }

    /**
     * Finds a subscriber further down that drops the lease, although its cancellation has not arrived here yet: a
     * subscriber marks itself first, and cancels then. Without this check, the garbage collector would have to find the
     * lease if a thread sleeps in between. The future of {@code toFuture()} cannot be scanned, but it knows whether it
     * was cancelled.
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

    /** Completes empty, unless it has ended. */
    public void complete() {
        delivery.run(this::completeNow);
    }

    /** Ends with an error, unless it has ended. */
    public void fail(Throwable error) {
        delivery.run(() -> failNow(error));
    }

    public void failNow(Throwable error) {
        if (STAGE.compareAndSet(this, OPEN, OVER)) {
            subscriber.onError(error);
        }
    }

    private void completeNow() {
        if (STAGE.compareAndSet(this, OPEN, OVER)) {
            subscriber.onComplete();
        }
    }
}
