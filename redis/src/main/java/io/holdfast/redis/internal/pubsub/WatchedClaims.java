package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.protocol.ChannelMessage;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The watched claims of one client, and their signals. Only waiters get hints: a holder misses nothing that its next
 * renewal does not show, and a hint that any client can send must not make it renew.
 */
final class WatchedClaims {

    /** An attempt within the claim time, which is no shorter and no longer than these limits. */
    private static final Duration SOONEST = Duration.ofMillis(10);

    private static final Duration LATEST = Duration.ofMinutes(1);

    private final LongSupplier nanoTime;
    private final ConcurrentMap<String, WatchedClaim> watches = new ConcurrentHashMap<>();
    private final AbandonedClaims givenUp = new AbandonedClaims();
    private final HeadWakeUps atHead;
    private final PacedWakeUps<WatchSignal> paced;

    /**
     * Nothing is watched.
     *
     * @param later runs a task after a pause
     */
    WatchedClaims(BiConsumer<Duration, Runnable> later, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        atHead = new HeadWakeUps(later, nanoTime, this::hinted);
        paced = new PacedWakeUps<>(later, this::attemptsAgain);
    }

    int size() {
        return watches.size();
    }

    @Nullable
    WatchedClaim get(String claimId) {
        return watches.get(claimId);
    }

    Stream<WatchedClaim> all() {
        return watches.values().stream();
    }

    /**
     * Adds a watch of a claim, which may have one.
     *
     * @param first the claim with this watch alone
     * @return the watched claim
     */
    WatchedClaim add(WatchedClaim first, WatchSubscription watch) {
        String claimId = first.claim().id();
        return watches.putIfAbsent(claimId, first) == null
                ? first
                : watches.compute(claimId, (id, known) -> known == null ? first : known.with(watch));
    }

    /** The claim leaves, or holds the lock without this watch. */
    void remove(String claimId, WatchSubscription watch) {
        forgetWakeUps(claimId);
        watches.computeIfPresent(claimId, (id, watched) -> {
            if (watched.leavesUngranted()) {
                givenUp.add(id); // first: a grant that comes now finds the one or the other
            }
            return watched.without(watch);
        });
    }

    /**
     * The server refuses the channel. The claim waits without this watch, and may get the lock by an attempt. So a late or
     * repeated grant to it does not go back.
     */
    void failed(String claimId, WatchSubscription watch) {
        forgetWakeUps(claimId);
        watches.computeIfPresent(claimId, (id, watched) -> watched.without(watch));
    }

    private void forgetWakeUps(String claimId) {
        atHead.remove(claimId);
        paced.remove(claimId);
    }

    /** An attempt was answered: this claim holds the lock. */
    void holds(String claimId) {
        WatchedClaim watched = watches.get(claimId);
        if (watched != null) {
            watched.isGranted();
        }
        paced.answered(claimId);
    }

    /** An attempt with this number was answered: this claim has to wait. */
    void waits(String claimId, int attempt) {
        WatchedClaim watched = watches.get(claimId);
        if (watched != null) {
            watched.attemptedInVain(attempt);
        }
        paced.answered(claimId);
    }

    /** Signals a claim that it should send an attempt, or renew. */
    void changed(String claimId) {
        WatchedClaim watched = watches.get(claimId);
        if (watched != null) {
            watched.signal(new WatchSignal.Changed());
        }
    }

    /** Signals the waiters among these claims, some at a time. */
    void signalAll(Predicate<WatchedClaim> which, WatchSignal signal) {
        List<String> waiting = new ArrayList<>();
        watches.forEach((id, watched) -> {
            if (which.test(watched) && watched.isWaiting()) {
                waiting.add(id);
            }
        });
        paced.add(waiting, signal);
    }

    /** These claims have come to the head of their queue: each sends an attempt if it is not served by then. */
    void atHead(ChannelMessage.Head head) {
        Duration within = bounded(head.attemptWithin());
        for (String claimId : head.claimIds()) {
            WatchedClaim watched = watches.get(claimId);
            if (watched != null && watched.isWaiting()) {
                atHead.add(claimId, within);
            }
        }
    }

    private static Duration bounded(Duration within) {
        Duration notTooSoon = within.compareTo(SOONEST) < 0 ? SOONEST : within;
        return notTooSoon.compareTo(LATEST) > 0 ? LATEST : notTooSoon;
    }

    /**
     * Emits the first hint for a while at once. Of many hints it emits one at a time: any client with rights to the
     * channel can send them.
     */
    void hinted(String claimId) {
        WatchedClaim watched = watches.get(claimId);
        if (watched == null || !watched.isWaiting()) {
            return;
        }
        Duration pause = watched.hinted(nanoTime.getAsLong());
        if (pause.isZero()) {
            watched.signal(new WatchSignal.Changed());
        } else {
            atHead.add(claimId, pause);
        }
    }

    /**
     * A grant that the server has signed. A claim gets it once: any client with rights to the channel can repeat a
     * grant that came too late, and each copy would make the claim send an attempt.
     *
     * @return whether the grant goes back to the server: once, and only from a claim that has left while it waited
     */
    boolean granted(ChannelMessage grant, Function<WatchedClaim, String> holderKey) {
        WatchedClaim watched = watches.get(grant.claimId());
        if (watched == null) {
            return givenUp.remove(grant.claimId());
        }
        // Between a grant and the next attempt there is no other grant: a later message is a copy.
        if (watched.isWaiting()
                && grant.isFor(holderKey.apply(watched), watched.claim().lease())
                && grant.signal() instanceof WatchSignal.Granted granted
                && watched.isNews(granted.fencingToken())) {
            atHead.remove(grant.claimId());
            watched.isGranted();
            watched.signal(grant.signal());
        }
        return false;
    }

    /** Signals a waiter. False for a claim that does not wait any more. */
    private boolean attemptsAgain(String claimId, WatchSignal signal) {
        WatchedClaim watched = watches.get(claimId);
        if (watched == null || !watched.isWaiting()) {
            return false;
        }
        watched.signal(signal);
        return true;
    }
}
