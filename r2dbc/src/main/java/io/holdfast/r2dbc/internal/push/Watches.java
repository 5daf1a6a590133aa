package io.holdfast.r2dbc.internal.push;

import io.holdfast.r2dbc.internal.protocol.Push;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Deadlines;
import io.holdfast.spi.support.RecentClaims;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.scheduler.Scheduler;

/**
 * The watched claims of one client, and their signals. Only waiting claims are signalled to send an attempt: a holder learns all that it
 * needs from its next renewal.
 */
public final class Watches {

    private final ConcurrentMap<String, Watch> watches = new ConcurrentHashMap<>();
    private final Deadlines deadlines;
    private final Scheduler timer;
    private final Duration claimTime;
    private final Consumer<LockClaim> giveBack;

    /** Claims that were cancelled while they waited. */
    private final RecentClaims<LockClaim> abandoned = new RecentClaims<>(4_096);

    /** Written by the channel. */
    private volatile boolean isArmed;

    /** Set once. */
    private volatile @Nullable Throwable end;

    /** The deadline is the time at which a claim at the head of its queue sends its next attempt. */
    private static final class Watch extends Deadlines.Deadline {

        final LockClaim claim;
        final FluxSink<WatchSignal> subscriber;

        /**
         * Whether the claim waits for the lock, or is about to. Written by each attempt that is sent or answered, and by a pushed grant. The
         * watch of a claim that never waits begins when it holds the lock.
         */
        private volatile boolean isWaiting;

        /** The attempt that its newest pushed grant answers; 0 without one. Guarded by this. */
        private int grantedAttempt;

        /** The last attempt that was sent; 0 without one. Guarded by this. */
        private int lastSent;

        /** Whether an attempt after that grant was answered: the claim has to wait. Guarded by this. */
        private boolean hasLostGrant;

        Watch(LockClaim claim, FluxSink<WatchSignal> subscriber) {
            this.claim = claim;
            this.subscriber = subscriber;
            isWaiting = claim.waiting() != Waiting.NONE;
        }

        boolean isWaiting() {
            return isWaiting;
        }

        /** It is about to send an attempt. So it has no lease, or one that came too late. */
        synchronized void attempts(int attempt) {
            lastSent = Math.max(lastSent, attempt);
            isWaiting = true;
        }

        /** A grant on another connection may have come before an older answer. */
        synchronized void answered(int attempt, boolean isAcquired) {
            if (attempt > grantedAttempt) {
                isWaiting = !isAcquired;
                hasLostGrant = !isAcquired;
            }
        }

        /** A grant may be too late. If a later attempt is under way, the claim still gets the grant that answers it. */
        synchronized void granted(int attempt) {
            grantedAttempt = Math.max(grantedAttempt, attempt);
            hasLostGrant = false;
            isWaiting = grantedAttempt < lastSent;
        }

        /**
         * Whether a later grant goes back to the database. A grant to a claim that was granted before does not: another client may have
         * adopted that lease.
         */
        synchronized boolean leavesUngranted() {
            return isWaiting && (grantedAttempt == 0 || hasLostGrant);
        }

        @Override
        protected void passed() {
            if (isWaiting) {
                subscriber.next(new WatchSignal.Changed());
            }
        }
    }

    /**
     * Starts without watches.
     *
     * @param deadlines the deadlines of the timer
     * @param giveBack releases a claim that got the lock after it was cancelled
     */
    public Watches(Deadlines deadlines, Scheduler timer, Duration claimTime, Consumer<LockClaim> giveBack) {
        this.deadlines = deadlines;
        this.timer = timer;
        this.claimTime = claimTime;
        this.giveBack = giveBack;
    }

    /** Emits the signals of one claim. A claim has one watch at a time: a later one replaces it. */
    public Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.create(subscriber -> {
            Watch watch = new Watch(claim, subscriber);
            watches.put(claim.id(), watch);
            subscriber.onDispose(() -> remove(watch));
            if (isArmed) {
                subscriber.next(new WatchSignal.Armed());
            }
            Throwable ended = end;
            if (ended != null) {
                subscriber.error(ended);
            }
        });
    }

    private void remove(Watch watch) {
        if (watch.leavesUngranted()) {
            // before the removal below, so that a grant finds the claim in one of the two
            abandoned.add(watch.claim.id(), watch.claim);
        }
        watches.remove(watch.claim.id(), watch);
        deadlines.off(watch);
    }

    public boolean isWatched(String claimId) {
        return watches.containsKey(claimId);
    }

    public int size() {
        return watches.size();
    }

    /** Whether any claim waits for a message. */
    boolean hasWaiting() {
        return watches.values().stream().anyMatch(Watch::isWaiting);
    }

    /**
     * This attempt is about to be sent. From now on its claim gets messages, also if they are faster than its answer. An attempt that does
     * not wait, as for a downgrade, changes nothing.
     *
     * @return whether the claim is watched
     */
    public boolean beginAttempt(LockClaim attempt) {
        Watch watch = watches.get(attempt.id());
        if (watch != null && attempt.waiting() != Waiting.NONE) {
            watch.attempts(attempt.attempt());
        }
        return watch != null;
    }

    /** This attempt was answered. */
    public void answered(LockClaim attempt, LockAttempt answer) {
        Watch watch = watches.get(attempt.id());
        if (watch != null) {
            watch.answered(attempt.attempt(), answer instanceof LockAttempt.Acquired);
        }
    }

    /** From now on no message is missed. */
    void arm() {
        isArmed = true;
        for (Watch watch : watches.values()) {
            if (watch.isWaiting()) {
                watch.subscriber.next(new WatchSignal.Armed());
            }
        }
    }

    void disarm() {
        isArmed = false;
    }

    /** Delivers a message of the database, from a notification or from the answer to another claim of this client. */
    public void deliver(Push push) {
        Watch watch = watches.get(push.claimId());
        WatchSignal signal = push.signal();
        if (watch == null) {
            if (signal instanceof WatchSignal.Granted) {
                giveBack(push.claimId());
            }
        } else if (watch.isWaiting()) {
            deliver(watch, signal);
        }
    }

    private void deliver(Watch watch, @Nullable WatchSignal signal) {
        if (signal == null) {
            attemptLater(watch);
        } else {
            if (signal instanceof WatchSignal.Granted granted) {
                watch.granted(granted.attempt());
            }
            watch.subscriber.next(signal);
        }
    }

    private void giveBack(String claimId) {
        LockClaim left = abandoned.remove(claimId);
        if (left != null) {
            giveBack.accept(left);
        }
    }

    /**
     * The claim has come to the head of its queue. If it is still there after a claim time, the holder may hang. Nearly all claims get the
     * lock before that.
     */
    private void attemptLater(Watch watch) {
        deadlines.set(watch, timer.now(TimeUnit.NANOSECONDS) + claimTime.toNanos());
    }

    /** Fails all watches, and later ones. */
    public void fail(Throwable error) {
        end = error;
        watches.values().forEach(it -> it.subscriber.error(error));
    }
}
