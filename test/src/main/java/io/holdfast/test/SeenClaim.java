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
 * One claim of the code under test, and what its client knows of it. Thread-safe. It calls no code of others while its monitor is held.
 */
final class SeenClaim {

    private final List<FluxSink<WatchSignal>> watches = new ArrayList<>();

    // All below: under the monitor.
    private LockClaim claim;
    private long token;
    private boolean over;
    private boolean frozen;

    /** Whether the client is being told of the grant at this moment. */
    private boolean delivering;

    /** Whether the client will report that it hands the lease over: one with {@code deliverOn} does so later, on another thread. */
    private boolean handingOver;

    /** To be told when it knows of the grant. */
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

    /** 0 before its grant. */
    synchronized long token() {
        return token;
    }

    /** The client has given it up, or knows that it is lost. */
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

    /** False if that is known. Else {@link #delivered} follows, and {@link #handedOver} if its client reports events. */
    synchronized boolean granted(long fencingToken, boolean isReported) {
        if (over || token > 0) {
            return false;
        }
        token = fencingToken;
        delivering = true;
        handingOver = isReported;
        return true;
    }

    /** The client knows of its grant. */
    void delivered(Consumer<Runnable> behind) {
        tell(takeLoss(() -> delivering = false), behind);
    }

    /** The client hands the lease over, on this thread. */
    void handedOver(Consumer<Runnable> behind) {
        tell(takeLoss(() -> handingOver = false), behind);
    }

    private synchronized @Nullable LossReason takeLoss(Runnable step) {
        step.run();
        if (delivering || handingOver) {
            return null;
        }
        LossReason told = loss;
        loss = null;
        return told;
    }

    private void tell(@Nullable LossReason reason, Consumer<Runnable> behind) {
        if (reason != null) {
            behind.accept(() -> tell(new WatchSignal.Lost(reason)));
        }
    }

    /** False if it has ended. */
    synchronized boolean freeze() {
        frozen = isHeld();
        return frozen;
    }

    /** Ends it, and tells the client as soon as it has handed the lease over. False if it has ended before. */
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
        tell(new WatchSignal.Lost(reason));
        return true;
    }

    void tell(WatchSignal signal) {
        List<FluxSink<WatchSignal>> told;
        synchronized (this) {
            told = List.copyOf(watches);
        }
        told.forEach(watch -> watch.next(signal));
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
