package io.holdfast.internal;

import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * The subscriber's end of an acquisition. One atomic field decides how it ends: with a lease, with another signal, or because the
 * subscriber has left.
 *
 * @param <L> the lease of one lock, or of many
 */
final class Emission<L extends Emission.Returnable> {

    /** What a subscriber may have left without having seen. */
    interface Returnable {

        /** Gives it back. Does not keep what the user has from being garbage. */
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

    private final CoreSubscriber<? super L> subscriber;
    private final @Nullable Scheduler deliverOn;

    /** IDLE until requested, OVER once the subscriber was told or has left: written by whoever wins. */
    private volatile int stage;

    /** The thread that hands the lease over; written by it, before and after. Others only compare it with themselves. */
    private @Nullable Thread emitter;

    /** Written before the stage becomes DROPPED_IF_LEFT, read after that. */
    private @Nullable Runnable handedOver;

    Emission(CoreSubscriber<? super L> subscriber, @Nullable Scheduler deliverOn) {
        this.subscriber = subscriber;
        this.deliverOn = deliverOn;
    }

    Context context() {
        return subscriber.currentContext();
    }

    boolean isIdle() {
        return stage == IDLE;
    }

    /** Whether a signal can still be sent. */
    boolean isOpen() {
        return stage == OPEN;
    }

    boolean isOver() {
        return stage >= DROPPED_IF_LEFT;
    }

    /** True for the first request. */
    boolean open() {
        return STAGE.compareAndSet(this, IDLE, OPEN);
    }

    /**
     * The subscriber leaves.
     *
     * @param first run when that ends an acquisition under way
     */
    void leave(Runnable first) {
        boolean decided;
        do {
            decided = leave(
                    stage, first); // false when the stage has changed meanwhile, which it does five times at the most
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
            // On the emitting thread: the subscriber has its lease and wants no more, as next() and take(1) do. On any
            // other: it drops the lease unseen, or has it; nobody can tell. It has left, so the lease is given back.
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

    /** Decides for the lease and against leaving: {@link #emit} follows. False when the subscriber has left before. */
    boolean begin() {
        return cancelledBelow() == null && STAGE.compareAndSet(this, OPEN, EMITTING);
    }

    /** Hands the lease over. False when the subscriber left meanwhile, and the lease is to be given back. */
    boolean emit(L lease) {
        emitter = Thread.currentThread();
        subscriber.onNext(lease);
        // Not after onComplete(): doFinally() marks itself then, whatever has ended it, and passes on every
        // cancellation.
        Object cancelled = cancelledBelow();
        subscriber.onComplete();
        emitter = null;
        if (cancelled == null) {
            return STAGE.compareAndSet(this, EMITTING, OVER);
        }
        if (cancelled instanceof Future<?>) {
            return false; // it does not cancel any more once it was handed something
        }
        // Reactor's own subscribers mark themselves so when they have what they wanted, too. Those never cancel
        // afterwards: a cancellation that still comes was on its way, and the lease was dropped.
        handedOver = lease.giveBack();
        return STAGE.compareAndSet(this, EMITTING, DROPPED_IF_LEFT);
    }

    /**
     * A subscriber further down that drops what comes, although its cancellation has not come up to here yet: it marks itself first, and
     * cancels then. Without this attempt a thread that sleeps in between would leave the lease to the garbage collector. The future of
     * {@code toFuture()} cannot be scanned, but knows that it was cancelled.
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

    /** Ends empty, unless it is over. */
    void complete() {
        // Should the user's scheduler be gone: a signal on another thread beats none.
        deliver(this::completeNow, disposed -> completeNow());
    }

    /** Ends with an error, unless it is over. */
    void fail(Throwable error) {
        deliver(() -> failNow(error), disposed -> failNow(error));
    }

    void failNow(Throwable error) {
        if (STAGE.compareAndSet(this, OPEN, OVER)) {
            subscriber.onError(error);
        }
    }

    /**
     * Runs where the user wants signals.
     *
     * @param refused run when that scheduler is disposed
     */
    void deliver(Runnable signal, Consumer<RejectedExecutionException> refused) {
        if (deliverOn == null) {
            Turn.runUsersCode(signal);
            return;
        }
        try {
            deliverOn.schedule(signal);
        } catch (RejectedExecutionException disposed) {
            refused.accept(disposed);
        }
    }

    private void completeNow() {
        if (STAGE.compareAndSet(this, OPEN, OVER)) {
            subscriber.onComplete();
        }
    }
}
