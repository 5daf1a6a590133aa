package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.protocol.ChannelMessage;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.RecentClaims;
import io.holdfast.spi.support.SignalSink;
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

    private final LongSupplier nanoTime;
    private final ConcurrentMap<String, WatchedClaim> watches = new ConcurrentHashMap<>();

    /**
     * The claims that left while they could still be granted the lock, each with the token of its last grant, with which it may
     * have been exported. A later grant to one of them goes back to the server, once. A grant to a claim that is forgotten ends
     * with its claim time.
     */
    private final RecentClaims<Long> givenUp = new RecentClaims<>(4_096);

    private final FirstWaiters firstWaiters;
    private final BiConsumer<Duration, Runnable> later;
    private final PacedWakeUps<WatchSignal> paced;

    /**
     * Nothing is watched.
     *
     * @param claimTime the time within which the first waiter of each lock sends an attempt
     * @param later runs a task after a pause
     */
    WatchedClaims(Duration claimTime, BiConsumer<Duration, Runnable> later, LongSupplier nanoTime) {
        this.later = later;
        this.nanoTime = nanoTime;
        firstWaiters = new FirstWaiters(claimTime, later, this::hinted);
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
    WatchedClaim add(WatchedClaim first, SignalSink watch) {
        String claimId = first.claim().id();
        return watches.putIfAbsent(claimId, first) == null
                ? first
                : watches.compute(claimId, (id, known) -> known == null ? first : known.with(watch));
    }

    /** The claim leaves, or holds the lock without this watch. */
    void remove(SignalSink watch) {
        remove(watch, true);
    }

    /**
     * The server refuses the channel. The claim waits without its watches, and may get the lock by an attempt. So a late or
     * repeated grant to it does not go back.
     */
    void fail(WatchedClaim refused, Throwable error) {
        for (SignalSink watch : refused.watches()) {
            remove(watch, false);
            watch.fail(error);
        }
    }

    private void remove(SignalSink watch, boolean isLeaving) {
        String claimId = watch.claimId();
        paced.remove(claimId);
        WatchedClaim watched = watches.get(claimId);
        WatchedClaim rest = watches.computeIfPresent(claimId, (id, known) -> {
            if (isLeaving && known.leavesUngranted()) {
                givenUp.add(id, known.grantedToken()); // first: a grant that comes now finds the one or the other
            }
            return known.without(watch);
        });
        if (watched != null && rest == null) {
            leaveLine(watched);
        }
    }

    private void leaveLine(WatchedClaim watched) {
        String lock = watched.waitsFor();
        if (lock != null) {
            watched.waitsFor(null);
            firstWaiters.left(lock, watched.claim().id());
        }
    }

    /** An attempt was answered, and its claim does not hold the lock. Returns the answer, for the first waiter with a shorter time. */
    LockAttempt inLine(String lock, String claimId, LockAttempt answer) {
        WatchedClaim watched = watches.get(claimId);
        if (watched == null) {
            return answer;
        } else if (answer instanceof LockAttempt.Queued queued) {
            watched.waitsFor(lock);
            LockAttempt.Queued sooner = firstWaiters.queued(lock, claimId, queued);
            if (watches.get(claimId) != watched) {
                firstWaiters.left(lock, claimId); // it left meanwhile
            }
            return sooner;
        } else if (answer instanceof LockAttempt.Contended) {
            leaveLine(watched);
        } else if (answer instanceof LockAttempt.AcquiredRun held) {
            WatchedClaim first = watches.get(held.run().members().get(0));
            if (first != null) {
                first.isGranted(held.run().number()); // a late push is no news to it
            }
        }
        return answer;
    }

    /** An attempt was answered: this claim holds the lock. */
    void holds(String claimId) {
        WatchedClaim watched = watches.get(claimId);
        if (watched != null) {
            watched.isGranted();
            leaveLine(watched);
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
        } else if (watched.plansHint()) {
            later.accept(pause, () -> {
                watched.hintIsDue();
                hinted(claimId);
            });
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
            return givenUp.removeIf(grant.claimId(), known -> grant.token() > known) != null;
        }
        // Between a grant and the next attempt there is no other grant: a later message is a copy.
        if (watched.isWaiting() && grant.isFor(holderKey.apply(watched)) && watched.isNews(grant.token())) {
            if (grant.signal()
                    instanceof WatchSignal.Granted) { // a member of a run goes on waiting, as far as is known here
                watched.isGranted();
                leaveLine(watched);
            }
            watched.signal(grant.signal());
        }
        return false;
    }

    /** A run of this lock was broken. */
    void lost(ChannelMessage loss, Function<WatchedClaim, String> holderKey) {
        for (String claimId : loss.claimIds()) {
            WatchedClaim watched = watches.get(claimId);
            if (watched != null && loss.isFor(holderKey.apply(watched))) {
                watched.signal(loss.signal());
            }
        }
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
