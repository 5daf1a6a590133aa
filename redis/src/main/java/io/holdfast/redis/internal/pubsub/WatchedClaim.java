package io.holdfast.redis.internal.pubsub;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/** A claim that is watched: who is told, and the server where it waits. */
final class WatchedClaim {

    private static final AtomicReferenceFieldUpdater<WatchedClaim, @Nullable ChannelSubscription> SUBSCRIPTION =
            AtomicReferenceFieldUpdater.newUpdater(WatchedClaim.class, ChannelSubscription.class, "subscription");

    /** Between two hints to look again, which anybody may have written. As short as locks are held that many want. */
    private static final long HINT_PAUSE_NANOS = 10_000_000;

    private static final long NEVER = Long.MIN_VALUE;

    private static final AtomicLongFieldUpdater<WatchedClaim> HINTED_AT =
            AtomicLongFieldUpdater.newUpdater(WatchedClaim.class, "hintedAt");

    private final LockClaim claim;

    /** Which server has its key, see {@code Topology.groupOf}. */
    private final int group;

    /** Replaced within the map's own update. */
    private volatile List<WatchSubscription> watches;

    /** Written by the watch with what the map of the cluster says, then by each attempt that is sent; null when its key has moved. */
    private volatile @Nullable ChannelSubscription subscription;

    /**
     * Whether it looks for the lock, or is about to, and does not hold it: written by each attempt that is sent or answered, and by a pushed
     * grant. So a subscription that comes up between the watch and the first attempt is told of.
     */
    private volatile boolean isWaiting = true;

    /** The token of the newest grant that was passed on; written by the subscription. */
    private volatile long grantedToken;

    /** When a hint was last passed on. */
    private volatile long hintedAt = NEVER;

    WatchedClaim(LockClaim claim, int group, @Nullable ChannelSubscription subscription, WatchSubscription first) {
        this.claim = claim;
        this.group = group;
        this.subscription = subscription;
        watches = List.of(first);
    }

    LockClaim claim() {
        return claim;
    }

    /** Hints and interruptions concern those that wait: one that holds the lock renews it in time anyway. */
    boolean isWaiting() {
        return isWaiting;
    }

    void waits(boolean now) {
        isWaiting = now;
    }

    /** It leaves while it waits. */
    void leavesUnserved() {
        ChannelSubscription present = subscription;
        if (present != null) {
            present.doubt();
        }
    }

    /** After which pause a hint is to be passed on. */
    Duration hinted(long now) {
        long last = hintedAt;
        long left = last == NEVER ? 0 : HINT_PAUSE_NANOS - (now - last);
        return left <= 0 && HINTED_AT.compareAndSet(this, last, now)
                ? Duration.ZERO
                : Duration.ofNanos(Math.max(left, 1_000_000));
    }

    /** False for a copy of a grant that was passed on before: a later one has a higher token. */
    boolean isNews(long token) {
        if (token <= grantedToken) {
            return false;
        }
        grantedToken = token;
        return true;
    }

    int group() {
        return group;
    }

    @Nullable
    ChannelSubscription subscription() {
        return subscription;
    }

    /** Tells where its next attempt will be answered. True when that is not where its signals came from so far. */
    boolean moveTo(ChannelSubscription next) {
        return SUBSCRIPTION.getAndSet(this, next) != next;
    }

    /** Leaves a server that has its key no more. False when it has left already. */
    boolean leave(ChannelSubscription former) {
        return SUBSCRIPTION.compareAndSet(this, former, null);
    }

    WatchedClaim with(WatchSubscription one) {
        List<WatchSubscription> all = new ArrayList<>(watches);
        all.add(one);
        watches = List.copyOf(all);
        return this;
    }

    /** Null when none is left. */
    @Nullable
    WatchedClaim without(WatchSubscription one) {
        if (watches.size() == 1 && watches.get(0) == one) {
            watches = List.of(); // nearly always
            return null;
        }
        watches = watches.stream().filter(other -> other != one).toList();
        return watches.isEmpty() ? null : this;
    }

    void tell(WatchSignal signal) {
        watches.forEach(watch -> watch.tell(signal));
    }

    void fail(Throwable error) {
        watches.forEach(watch -> watch.fail(error));
    }
}
