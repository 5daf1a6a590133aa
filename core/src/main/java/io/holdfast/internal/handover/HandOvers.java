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
 * All locks of one process that are handed over in it. Keeps nothing of a lock for which no claim of this process waits, or holds it.
 *
 * <p>Times are nanoseconds on this process's clock. Each method takes a list to which it adds what is to be done besides answering, in order.
 * Not thread-safe.
 */
public final class HandOvers {

    private static final long SWEEP_NANOS = Duration.ofSeconds(1).toNanos();

    private final ClaimTable waiters;
    private final Tombstones tombstones = new Tombstones();

    private long lastSweepNanos;

    /**
     * Without any lock.
     *
     * @param bounds of each turn
     * @param now the time
     */
    public HandOvers(Bounds bounds, long now) {
        this((key, lease) -> new HandOver(key, lease, bounds), now);
    }

    /** For tests, which see to it that wrong decisions are found. */
    HandOvers(ClaimTable.Maker maker, long now) {
        waiters = new ClaimTable(maker);
        lastSweepNanos = now;
    }

    /**
     * Whether a claim may wait in this process: the only kind with one owner, in an order, with a token that follows from the one before.
     *
     * @param claim its first attempt
     * @return false for other kinds, for claims that do not queue, and for those of a quorum
     */
    public static boolean concerns(LockClaim claim) {
        return claim.key().kind() == LockKind.MUTEX && claim.waiting() == Waiting.QUEUE && claim.tokenFloor() == 0;
    }

    /**
     * A claim is watched from now on.
     *
     * @param claim which
     * @param watch whom to tell
     * @param now the time
     * @return false when the watch is the store's business
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
     * A claim is not watched any more.
     *
     * @param id of the claim
     * @param watch what {@link #watch} was told
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
     * A claim looks.
     *
     * @param claim which
     * @param now the time
     * @param out what is to be done
     * @return the answer, or whom to ask for it
     */
    public Reply<LockAttempt> look(LockClaim claim, long now, List<Effect> out) {
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
                return new Reply.Forward<>(); // it began before this
            }
            waiter = waiters.add(claim);
        }
        return waiter.of.requests.look(waiter, claim.attempt(), now, out);
    }

    private static Reply<LockAttempt> refused(LockClaim claim) {
        return new Reply.Answer<>(new LockAttempt.Contended(claim.lease().dividedBy(3)));
    }

    /**
     * The store answered the attempt of a turn.
     *
     * @param asked what {@link #look} said
     * @param id of the claim that looked
     * @param answer the answer
     * @param now the time
     * @param out what is to be done
     * @return the answer for the claim
     */
    public LockAttempt answered(
            Reply.Ask<LockAttempt> asked, String id, LockAttempt answer, long now, List<Effect> out) {
        Turn turn = asked.turn();
        return turn.of.answers.answered(turn, asked.claim().attempt(), waiters.get(id), answer, now, out);
    }

    /**
     * The attempt of a turn failed, or is not waited for.
     *
     * @param asked what {@link #look} said
     * @param id of the claim that looked
     * @param out what is to be done
     */
    public void attemptFailed(Reply.Ask<LockAttempt> asked, String id, List<Effect> out) {
        Turn turn = asked.turn();
        turn.of.answers.attemptFailed(turn, asked.claim().attempt(), waiters.get(id), out);
    }

    /**
     * The store answered the request for a block of tokens.
     *
     * @param asked the request
     * @param answer null when it failed
     * @param now the time
     * @param out what is to be done
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
     * A claim is renewed.
     *
     * @param claim which; with its lease, which may be shorter than that of the turn
     * @param now the time
     * @return the turn to renew instead; null for the claim itself
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
     * The store answered a renewal of a turn.
     *
     * @param turn which
     * @param id of the claim that was renewed
     * @param sentAtNanos when it was sent
     * @param answer the answer
     * @param now the time
     * @param out what is to be done
     */
    public void renewed(Turn turn, String id, long sentAtNanos, Renewal answer, long now, List<Effect> out) {
        Waiter waiter = waiters.get(id);
        turn.of.answers.renewed(turn, waiter, sentAtNanos, answer, now, out);
        if (waiter != null
                && waiter.turn == turn
                && waiter.standing == Standing.OWNER
                && answer instanceof Renewal.NotHeld) {
            waiters.remove(waiter); // its client knows, and sends no release; one that was sent goes on
        }
    }

    /**
     * A claim is released.
     *
     * @param claim which
     * @param now the time
     * @param out what is to be done
     * @return the answer, or whom to ask for it
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
     * A release that was put off may go on.
     *
     * @param waiter whose
     * @param now the time
     * @param out what is to be done
     * @return the answer, or whom to ask for it; null when it has gone on already
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
     * What the store says of a holder, with the claim of this process that has the lock now in its place.
     *
     * @param name of the lock
     * @param atStore what the store says
     * @return the same for a claim that this process does not hand over
     */
    public LockHolder holder(String name, LockHolder atStore) {
        Waiter owner = waiters.owner(name, atStore.claimId());
        return owner == null ? atStore : owner.shown(atStore);
    }

    /**
     * The store confirmed the release of a turn for a claim.
     *
     * @param id of the claim
     */
    public void releaseConfirmed(String id) {
        Waiter waiter = waiters.get(id);
        if (waiter != null && waiter.standing == Standing.LEAVING) {
            waiters.remove(waiter);
        }
    }

    /**
     * The store signalled something about a turn.
     *
     * @param turn which
     * @param signal null when the signals have stopped
     * @param now the time
     * @param out what is to be done
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
     * What is kept: a line for each claim.
     *
     * @return in no particular order
     */
    public List<String> contents() {
        return waiters.all().stream()
                .map(it -> "'%s' wanted by claim %s".formatted(it.of.key.name(), it))
                .toList();
    }
}
