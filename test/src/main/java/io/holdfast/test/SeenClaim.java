package io.holdfast.test;

import io.holdfast.LossReason;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.FluxSink;

/**
 * One claim of the code under test, and what its client knows of it. Thread-safe. It calls no foreign code while it
 * holds its monitor.
 */
final class SeenClaim {

    private final List<FluxSink<WatchSignal>> watches = new ArrayList<>();

    // The fields below are guarded by the monitor.
    private LockClaim claim;
    private long token;
    private boolean over;
    private boolean frozen;

    /** Whether the client is receiving the grant at this moment. */
    private boolean delivering;

    /**
     * Whether the client will report that it emits the lease: a client with {@code deliverOn} does so later, on another
     * thread.
     */
    private boolean handingOver;

    /** A loss to signal when the client has received the grant. */
    private @Nullable LossReason loss;

    SeenClaim(LockClaim claim) {
        this.claim = claim;
    }

    synchronized void asksAs(LockClaim latest) {
        claim = latest;
    }

    synchronized LockClaim claim() {
        return claim;
    }

    String lockName() {
        return claim().key().name();
    }

    /** Returns the token; 0 before the grant. */
    synchronized long token() {
        return token;
    }

    /** Returns whether the client has given the claim up, or knows that it is lost. */
    synchronized boolean isOver() {
        return over;
    }

    synchronized void end() {
        over = true;
    }

    synchronized boolean isFrozen() {
        return frozen;
    }

    synchronized boolean isHeld() {
        return !over && token > 0;
    }

    synchronized boolean isWaiting() {
        return !over && token == 0;
    }

    /**
     * Records a grant; returns false if the claim has it already. Otherwise {@link #delivered} follows, and
     * {@link #handedOver} if its client reports events.
     */
    synchronized boolean granted(long fencingToken, boolean isReported) {
        if (over || token > 0) {
            return false;
        }
        token = fencingToken;
        delivering = true;
        handingOver = isReported;
        return true;
    }

    /** Called when the client has received its grant. */
    void delivered(Consumer<Runnable> behind) {
        signal(takeLoss(() -> delivering = false), behind);
    }

    /** Called when the client emits the lease, on this thread. */
    void handedOver(Consumer<Runnable> behind) {
        signal(takeLoss(() -> handingOver = false), behind);
    }

    private synchronized @Nullable LossReason takeLoss(Runnable step) {
        step.run();
        if (delivering || handingOver) {
            return null;
        }
        LossReason due = loss;
        loss = null;
        return due;
    }

    private void signal(@Nullable LossReason reason, Consumer<Runnable> behind) {
        if (reason != null) {
            behind.accept(() -> signal(new WatchSignal.Lost(reason)));
        }
    }

    /** Freezes the hold; returns false if it has ended. */
    synchronized boolean freeze() {
        frozen = isHeld();
        return frozen;
    }

    /**
     * Ends the hold, and signals the loss as soon as the client has emitted the lease. Returns false if it had ended
     * before.
     */
    boolean lose(LossReason reason) {
        synchronized (this) {
            if (over) {
                return false;
            }
            over = true;
            frozen = false;
            if (delivering || handingOver) {
                loss = reason;
                return true;
            }
        }
        signal(new WatchSignal.Lost(reason));
        return true;
    }

    void signal(WatchSignal signal) {
        List<FluxSink<WatchSignal>> receivers;
        synchronized (this) {
            receivers = List.copyOf(watches);
        }
        receivers.forEach(watch -> watch.next(signal));
    }

    synchronized void watchedBy(FluxSink<WatchSignal> watch) {
        watches.add(watch);
    }

    synchronized void leftBy(FluxSink<WatchSignal> watch) {
        watches.remove(watch);
    }

    @Override
    public synchronized String toString() {
        return "'%s' with token %d%s%s"
                .formatted(claim.key().name(), token, frozen ? ", frozen" : "", over ? ", over" : "");
    }
}
