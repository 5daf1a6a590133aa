package io.holdfast.redis.internal.pubsub;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/** A claim that is watched: its watches, and the server where it waits. */
final class WatchedClaim {

    private static final AtomicReferenceFieldUpdater<WatchedClaim, @Nullable ChannelSubscription> SUBSCRIPTION =
            AtomicReferenceFieldUpdater.newUpdater(WatchedClaim.class, ChannelSubscription.class, "subscription");

    /**
     * The pause between two hints, which any client may have sent. As short as locks are held that many clients want.
     */
    private static final long HINT_PAUSE_NANOS = 10_000_000;

    private static final long NEVER = Long.MIN_VALUE;

    private static final AtomicLongFieldUpdater<WatchedClaim> HINTED_AT =
            AtomicLongFieldUpdater.newUpdater(WatchedClaim.class, "hintedAt");

    private final LockClaim claim;

    /** The group of its key, see {@code Topology.groupOf}. */
    private final int group;

    /** Replaced within the map's own update. */
    private volatile List<SignalSink> watches;

    /**
     * Written by the watch with the server in the map of the cluster, then by each attempt that is sent; null if its
     * key has moved.
     */
    private volatile @Nullable ChannelSubscription subscription;

    /**
     * Whether it has sent an attempt, or is about to, and does not hold the lock. Written by each attempt that is sent
     * or answered, and by a pushed grant. From the beginning true for a claim that will wait, so it gets the signal of a
     * subscription that comes up between the watch and the first attempt. The watch of any other claim begins when it
     * holds the lock.
     */
    private volatile boolean isWaiting;

    /** The number of the last attempt that was sent; written by each attempt. */
    private volatile int lastSent;

    /** The number of the last attempt that was sent before its newest grant; 0 without a grant. Written by each grant. */
    private volatile int lastBeforeGrant;

    /** The number of the last attempt whose answer said that it has to wait; written by that answer. */
    private volatile int lastInVain;

    /** The token of the newest grant that was emitted; written by the subscription. */
    private volatile long grantedToken;

    /** The key of the lock in whose queue it waits, as its last answer said; null for none. */
    private volatile @Nullable String waitsFor;

    /** Whether a task is to emit a hint; guarded by this. */
    private boolean isHintPlanned;

    /** When a hint was last emitted. */
    private volatile long hintedAt = NEVER;

    WatchedClaim(LockClaim claim, int group, @Nullable ChannelSubscription subscription, SignalSink first) {
        this.claim = claim;
        this.group = group;
        this.subscription = subscription;
        watches = List.of(first);
        isWaiting = claim.waiting() != Waiting.NONE;
    }

    LockClaim claim() {
        return claim;
    }

    /** Hints and interruptions concern waiters: a holder renews its lease in time anyway. */
    boolean isWaiting() {
        return isWaiting;
    }

    /**
     * Whether a grant that the server pushes later concerns nobody. Not a grant to an adopted claim, which the exporting
     * client got, and not one to a claim that was granted: it may be exported by now, also if its last attempt was not
     * answered. A late or repeated message must not release a lease that another client has adopted.
     */
    boolean leavesUngranted() {
        boolean isGranted = lastBeforeGrant > 0 && lastBeforeGrant >= lastInVain;
        return isWaiting && !isGranted && claim.waiting() == Waiting.QUEUE;
    }

    /** It is about to send an attempt. */
    void attempts(int number) {
        lastSent = number;
        isWaiting = true;
    }

    /** It holds the lock. */
    void isGranted() {
        lastBeforeGrant = Math.max(lastSent, 1);
        isWaiting = false;
    }

    /** This attempt was answered: it has to wait. An attempt from before a grant says nothing about that grant. */
    void attemptedInVain(int number) {
        lastInVain = Math.max(lastInVain, number);
    }

    /** Returns the pause before a hint is emitted. */
    Duration hinted(long now) {
        long last = hintedAt;
        long left = last == NEVER ? 0 : HINT_PAUSE_NANOS - (now - last);
        return left <= 0 && HINTED_AT.compareAndSet(this, last, now)
                ? Duration.ZERO
                : Duration.ofNanos(Math.max(left, 1_000_000));
    }

    /** Plans a hint. False if there is one. */
    synchronized boolean plansHint() {
        boolean wasPlanned = isHintPlanned;
        isHintPlanned = true;
        return !wasPlanned;
    }

    synchronized void hintIsDue() {
        isHintPlanned = false;
    }

    @Nullable
    String waitsFor() {
        return waitsFor;
    }

    void waitsFor(@Nullable String lock) {
        waitsFor = lock;
    }

    /** False for a copy of a grant that was emitted before: a later one has a higher token. */
    boolean isNews(long token) {
        if (token <= grantedToken) {
            return false;
        }
        grantedToken = token;
        return true;
    }

    /** Another member of its run has brought the grant. */
    void isGranted(long number) {
        grantedToken = Math.max(grantedToken, number);
    }

    long grantedToken() {
        return grantedToken;
    }

    int group() {
        return group;
    }

    @Nullable
    ChannelSubscription subscription() {
        return subscription;
    }

    /** Notes the server that will answer its next attempt. True if that is not the server of its signals so far. */
    boolean moveTo(ChannelSubscription next) {
        return SUBSCRIPTION.getAndSet(this, next) != next;
    }

    /** Leaves a server that does not have its key any more. False if it has left already. */
    boolean leave(ChannelSubscription former) {
        return SUBSCRIPTION.compareAndSet(this, former, null);
    }

    WatchedClaim with(SignalSink one) {
        List<SignalSink> all = new ArrayList<>(watches);
        all.add(one);
        watches = List.copyOf(all);
        return this;
    }

    /** Returns null if no watch is left. */
    @Nullable
    WatchedClaim without(SignalSink one) {
        if (watches.size() == 1 && watches.get(0) == one) {
            watches = List.of(); // nearly always
            return null;
        }
        watches = watches.stream().filter(other -> other != one).toList();
        return watches.isEmpty() ? null : this;
    }

    void signal(WatchSignal signal) {
        for (SignalSink watch : watches) {
            watch.accept(signal);
            if (watch.isDue()) {
                watch.run();
            }
        }
    }

    List<SignalSink> watches() {
        return watches;
    }
}
