package io.holdfast.internal.handover;

import io.holdfast.LockHolder;
import io.holdfast.internal.handover.Waiter.Standing;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All locks that are handed over in one process. Keeps nothing of a lock without a claim of this process that waits for
 * it or holds it.
 *
 * <p>Times are nanoseconds on this process's clock. Each method takes a list, and adds the actions besides the answer
 * to it, in order. Not thread-safe.
 */
public final class HandOvers {

    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

    private final ClaimTable waiters;
    private final Tombstones tombstones = new Tombstones();

    private long lastSweepNanos;

    /**
     * Makes an object without any lock.
     *
     * @param bounds the bounds of each turn
     * @param now the current time
     */
    public HandOvers(Bounds bounds, long now) {
        this((key, lease) -> new HandOver(key, lease, bounds), now);
    }

    /** For tests with wrong decisions, which must be detected. */
    HandOvers(ClaimTable.Maker maker, long now) {
        waiters = new ClaimTable(maker);
        lastSweepNanos = now;
    }

    /**
     * Returns whether this class hands a claim over: a claim of a mutex that queues. Only a mutex has one owner at a
     * time, and tokens that follow from each other.
     *
     * @param claim the first attempt of the claim
     * @return false for other kinds, for claims that do not queue, and for claims of a quorum
     */
    public static boolean concerns(LockClaim claim) {
        return claim.key().kind() == LockKind.MUTEX && claim.waiting() == Waiting.QUEUE && claim.tokenFloor() == 0;
    }

    /**
     * Registers the watch of a claim.
     *
     * @param claim the claim
     * @param watch the receiver of its signals
     * @param now the current time
     * @return false when the back end signals this claim
     */
    public boolean watch(LockClaim claim, Consumer<WatchSignal> watch, long now) {
        Waiter waiter = waiters.get(claim.id());
        if (waiter == null) {
            if (!concerns(claim) || tombstones.contains(claim.id())) {
                return false;
            }
            waiter = waiters.add(claim);
            sweepInTime(now);
        }
        waiter.watch = watch;
        return true;
    }

    /**
     * Removes the watch of a claim.
     *
     * @param id the id of the claim
     * @param watch the watch that {@link #watch} registered
     */
    public void unwatched(String id, Consumer<WatchSignal> watch) {
        Waiter waiter = waiters.get(id);
        if (waiter != null && waiter.watch == watch) {
            waiter.watch = null;
            if (waiter.standing == Standing.OUTSIDE) {
                waiters.remove(waiter);
            }
        }
    }

    /**
     * Decides about an attempt of a claim.
     *
     * @param claim the claim
     * @param now the current time
     * @param out the actions
     * @return the answer, or the request to send for it
     */
    public Reply<LockAttempt> tryAcquire(LockClaim claim, long now, List<Effect> out) {
        sweepInTime(now);
        Waiter waiter = waiters.get(claim.id());
        if (waiter == null) {
            if (!concerns(claim)) {
                return claim.waiting() == Waiting.NONE && waiters.hasWaiters(claim)
                        ? refused(claim)
                        : new Reply.Forward<>();
            }
            if (tombstones.contains(claim.id())) {
                return refused(claim);
            }
            if (claim.attempt() > 1) {
                return new Reply.Forward<>(); // the claim is older than this object
            }
            waiter = waiters.add(claim);
        }
        return waiter.of.requests.tryAcquire(waiter, claim.attempt(), now, out);
    }

    private static Reply<LockAttempt> refused(LockClaim claim) {
        return new Reply.Answer<>(new LockAttempt.Contended(claim.lease().dividedBy(3)));
    }

    /**
     * Handles the back end's answer to an attempt of a turn.
     *
     * @param asked the reply of {@link #tryAcquire}
     * @param id the id of the claim that sent the attempt
     * @param answer the answer
     * @param now the current time
     * @param out the actions
     * @return the answer for the claim
     */
    public LockAttempt answered(
            Reply.Ask<LockAttempt> asked, String id, LockAttempt answer, long now, List<Effect> out) {
        Turn turn = asked.turn();
        return turn.of.answers.answered(turn, asked.claim().attempt(), waiters.get(id), answer, now, out);
    }

    /**
     * Handles an attempt of a turn that failed or was cancelled.
     *
     * @param asked the reply of {@link #tryAcquire}
     * @param id the id of the claim that sent the attempt
     * @param out the actions
     */
    public void attemptFailed(Reply.Ask<LockAttempt> asked, String id, List<Effect> out) {
        Turn turn = asked.turn();
        turn.of.answers.attemptFailed(turn, asked.claim().attempt(), waiters.get(id), out);
    }

    /**
     * Handles the back end's answer to the request for a block of tokens.
     *
     * @param asked the request
     * @param answer the answer; null when the request failed
     * @param now the current time
     * @param out the actions
     */
    public void reserved(Effect.Reserve asked, @Nullable LockAttempt answer, long now, List<Effect> out) {
        Turn turn = asked.turn();
        if (answer == null) {
            turn.of.answers.reserveFailed(turn, out);
        } else {
            turn.of.answers.reserved(turn, asked.claim(), answer, now, out);
        }
    }

    /**
     * Decides about a renewal of a claim.
     *
     * @param claim the claim, with its lease duration, which may be shorter than that of the turn
     * @param now the current time
     * @return the turn to renew instead; null to renew the claim itself
     */
    public Reply.@Nullable Ask<Renewal> renew(LockClaim claim, long now) {
        Waiter waiter = waiters.get(claim.id());
        Turn turn = waiter == null ? null : waiter.of.requests.renewed(waiter);
        if (turn == null) {
            return null;
        }
        turn.shorten(claim.lease(), now);
        return new Reply.Ask<>(turn, turn.claim().withLease(claim.lease()));
    }

    /**
     * Handles the back end's answer to a renewal of a turn.
     *
     * @param turn the turn
     * @param id the id of the renewed claim
     * @param sentAtNanos when the renewal was sent
     * @param answer the answer
     * @param now the current time
     * @param out the actions
     */
    public void renewed(Turn turn, String id, long sentAtNanos, Renewal answer, long now, List<Effect> out) {
        Waiter waiter = waiters.get(id);
        turn.of.answers.renewed(turn, waiter, sentAtNanos, answer, now, out);
        if (waiter != null
                && waiter.turn == turn
                && waiter.standing == Standing.OWNER
                && answer instanceof Renewal.NotHeld) {
            // Its client gets the answer and sends no release; a release that was sent already goes on.
            waiters.remove(waiter);
        }
    }

    /**
     * Decides about a release of a claim.
     *
     * @param claim the claim
     * @param now the current time
     * @param out the actions
     * @return the answer, or the request to send for it
     */
    public Reply<Ownership> release(LockClaim claim, long now, List<Effect> out) {
        sweepInTime(now);
        Waiter waiter = waiters.get(claim.id());
        if (waiter == null) {
            if (concerns(claim)) {
                tombstones.add(claim.id(), now);
            }
            return new Reply.Forward<>();
        }
        if (waiter.attempt < claim.attempt()) {
            tombstones.add(claim.id(), now);
        }
        return released(waiter, waiter.of.requests.release(waiter, now, out));
    }

    /**
     * Continues a postponed release.
     *
     * @param waiter the claim
     * @param now the current time
     * @param out the actions
     * @return the answer, or the request to send for it; null when the release has continued already
     */
    public @Nullable Reply<Ownership> resumed(Waiter waiter, long now, List<Effect> out) {
        return waiter.standing == Standing.PASSING
                ? released(waiter, waiter.of.requests.release(waiter, now, out))
                : null;
    }

    private Reply<Ownership> released(Waiter waiter, Reply<Ownership> reply) {
        if (reply instanceof Reply.Answer<Ownership>) {
            waiters.remove(waiter);
        }
        return reply;
    }

    /**
     * Replaces a holder that the back end reports by the claim of this process that holds the lock now.
     *
     * @param name the name of the lock
     * @param atStore the holder as the back end reports it
     * @return the same holder if this process does not hand it over
     */
    public LockHolder holder(String name, LockHolder atStore) {
        Waiter owner = waiters.owner(name, atStore.claimId());
        return owner == null ? atStore : owner.shown(atStore);
    }

    /**
     * Handles the back end's confirmation of the release of a turn for a claim.
     *
     * @param id the id of the claim
     */
    public void releaseConfirmed(String id) {
        Waiter waiter = waiters.get(id);
        if (waiter != null && waiter.standing == Standing.LEAVING) {
            waiters.remove(waiter);
        }
    }

    /**
     * Handles a signal of the back end about a turn.
     *
     * @param turn the turn
     * @param signal the signal; null when the signals have stopped
     * @param now the current time
     * @param out the actions
     */
    public void signalled(Turn turn, @Nullable WatchSignal signal, long now, List<Effect> out) {
        if (signal == null) {
            turn.of.answers.signalsStopped(turn, out);
        } else {
            turn.of.answers.signalled(turn, signal, now, out);
        }
    }

    private void sweepInTime(long now) {
        if (now - lastSweepNanos < SWEEP_NANOS) {
            return;
        }
        lastSweepNanos = now;
        tombstones.sweep(now);
        for (Waiter waiter : waiters.all()) {
            if (waiter.of.requests.isForgotten(waiter, now)) {
                waiters.remove(waiter);
            }
        }
    }

    /**
     * Describes the contents: a line for each claim.
     *
     * @return lines in no particular order
     */
    public List<String> contents() {
        return waiters.all().stream()
                .map(it -> "'%s' wanted by claim %s".formatted(it.of.key.name(), it))
                .toList();
    }
}
