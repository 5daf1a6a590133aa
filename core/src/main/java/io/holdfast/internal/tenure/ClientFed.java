package io.holdfast.internal.tenure;

import static java.util.Objects.requireNonNull;

import io.holdfast.Backoff;
import io.holdfast.LossReason;
import io.holdfast.internal.tenure.LocalClaim.Standing;
import io.holdfast.internal.timing.StoreDurations;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules of {@link io.holdfast.LocalHandOver}: a tenure serves claims that wait in this process only.
 *
 * <ul>
 * <li>A claim joins the line. If no tenure waits at the back end, the claim takes a place there for the next one. Later
 *     attempts for that place are those of the waiting claims.
 * <li>While a tenure holds the lock, the claims of the line get it one after the other, within {@link Bounds}, also
 *     claims that arrive meanwhile.
 * <li>If the line is empty at the end of a tenure, the place of the next one is withdrawn.
 * <li>Owners get tokens up to a ceiling that the back end has acknowledged for this tenure.
 * </ul>
 */
class ClientFed extends TenureRules {

    /** How much later than the first claim another claim sends the attempt for the next tenure. */
    private static final long PATIENCE_NANOS = 50 * MILLI;

    /** The pauses between attempts, increasingly long, while signals do not arrive. */
    private static final Backoff POLLS = Backoff.exponential(Duration.ofMillis(50), Duration.ofSeconds(1));

    /**
     * A back end remembers a release for longer than this. A later answer may be to an attempt that arrived when the
     * back end had forgotten the release.
     */
    private static final long LATE_NANOS = Duration.ofSeconds(4).toNanos();

    final ClaimLine line = new ClaimLine();
    private final Bounds bounds;

    /** The tenure that has a place at the back end, or is about to take one. */
    private @Nullable Tenure next;

    private int tenures;

    ClientFed(LockKey key, Duration lease, Bounds bounds) {
        super(key, lease);
        this.bounds = bounds;
    }

    boolean hasWaiters() {
        return !line.isEmpty();
    }

    @Override
    boolean hasNext() {
        return !line.isEmpty();
    }

    // Requests of claims.

    /** Decides about an attempt, after the end of what has expired. */
    Reply<LockAttempt> tryAcquire(LocalClaim claim, int attempt, long now, List<Effect> out) {
        settle(now, out);
        if (attempt < claim.attempt || claim.standing == Standing.PASSING || claim.standing == Standing.LEAVING) {
            return queued(claim, leaseNanos / 3, now); // A later attempt, or the release, has overtaken this one.
        }
        claim.attempt = attempt;
        claim.attemptedAtNanos = now;
        if (claim.standing == Standing.OUTSIDE || isLost(claim)) {
            line.add(claim);
        }
        Tenure tenure = holding;
        if (tenure != null && tenure.owner == null && claim == reachable(claim, now)) {
            own(tenure, claim, out);
        }
        return tenure != null && tenure.owner == claim ? ask(tenure, now) : waitForNext(claim, now, out);
    }

    private Reply<LockAttempt> waitForNext(LocalClaim claim, long now, List<Effect> out) {
        Tenure tenure = nextFor(claim);
        if (claim.watch != null && !tenure.isWatched) {
            boolean hasPlace = tenure.sent.last() > 0;
            tenure.isWatched = true;
            tenure.isStarting = !hasPlace;
            tenure.isDue = hasPlace; // The back end must know first that a signal about its grant would arrive.
            out.add(new Effect.Watch(tenure));
        }
        // The first claim sends the attempts for all; if it does not, the others do, a little later.
        boolean isFirst = claim == line.first();
        long dueAt = isFirst ? tenure.attemptAgainAtNanos : tenure.attendedUntilNanos + PATIENCE_NANOS;
        if (tenure.attemptInFlight != 0) {
            return queued(claim, untilOwnerIsOver(PATIENCE_NANOS, now), now);
        }
        if (tenure.sent.last() == 0 || tenure.isDue || Validity.isOver(dueAt, now)) {
            claim.attemptsByNanos = now;
            return ask(tenure, now);
        }
        return queued(claim, untilOwnerIsOver(dueAt - now, now), now);
    }

    private Tenure nextFor(LocalClaim first) {
        if (next == null) {
            next = new Tenure(this, LockClaim.first(key, idOfTenure(first.id, tenures++), lease, Waiting.QUEUE));
        }
        return next;
    }

    /** The client of the owner may be dead. Then the next attempt after this time gets the lock. */
    private long untilOwnerIsOver(long withinNanos, long now) {
        Tenure tenure = holding;
        if (tenure == null) {
            return withinNanos;
        }
        return Math.min(withinNanos, tenure.owner == null ? MILLI : tenure.owner.validUntilNanos - now + MILLI);
    }

    private static Reply<LockAttempt> ask(Tenure tenure, long now) {
        LockClaim attempt = tenure.nextAttempt(now);
        tenure.attemptInFlight = attempt.attempt();
        tenure.isDue = false;
        return new Reply.Ask<>(tenure, attempt);
    }

    private Reply<LockAttempt> queued(LocalClaim claim, long withinNanos, long now) {
        long within = Math.max(MILLI, Math.min(withinNanos, leaseNanos / 3));
        claim.attemptsByNanos = now + within;
        return new Reply.Answer<>(new Queued(Duration.ofNanos(within)));
    }

    @Override
    Reply<Ownership> release(LocalClaim claim, long now, List<Effect> out) {
        settle(now, out);
        if (claim.standing == Standing.OUTSIDE) {
            return over(claim, Ownership.NOT_HELD);
        }
        if (claim.standing == Standing.WAITING) {
            return leave(claim, out);
        }
        Tenure tenure = requireNonNull(claim.tenure);
        if (tenure == holding && tenure.owner == claim) {
            if (claim.standing == Standing.OWNER && tenure.isReserving && mayHandOver(tenure, now)) {
                claim.standing = Standing.PASSING;
                return new Reply.Later<>(claim);
            }
            if (!tenure.isReserving && handOver(tenure, now, out)) {
                return over(claim, Ownership.HELD);
            }
            end(tenure, out);
        }
        return release(tenure, claim);
    }

    private Reply<Ownership> leave(LocalClaim claim, List<Effect> out) {
        boolean wasFirst = line.first() == claim;
        line.remove(claim);
        Tenure tenure = holding;
        if (tenure != null && tenure.owner == null && line.isEmpty()) { // granted while no claim could be signalled
            end(tenure, out);
            return release(tenure, claim);
        }
        if (keepsPlace(wasFirst)) {
            attend(out);
            return over(claim, Ownership.NOT_HELD);
        }
        Tenure unwanted = withdrawNext(out);
        return unwanted == null ? over(claim, Ownership.NOT_HELD) : release(unwanted, claim);
    }

    /** Returns whether the place of the next tenure is still wanted. */
    boolean keepsPlace(boolean firstHasLeft) {
        return !line.isEmpty();
    }

    private static Reply<Ownership> release(Tenure tenure, LocalClaim claim) {
        claim.standing = Standing.LEAVING;
        claim.tenure = tenure;
        tenure.isReleased = true;
        return new Reply.Ask<>(tenure, tenure.claim());
    }

    // Begin and end of a tenure.

    private void begin(
            Tenure tenure,
            long token,
            long sentAt,
            long granted,
            @Nullable LocalClaim caller,
            long now,
            List<Effect> out) {
        Tenure before = holding;
        holding = tenure;
        next = null;
        if (before != null) {
            lose(before, LossReason.NOT_HELD, out); // otherwise the back end would not have granted another claim
        }
        tenure.begin(token, Validity.until(sentAt, granted), sentAt + granted, now);
        if (line.isEmpty()) {
            abandon(tenure, null, out);
            return;
        }
        LocalClaim first = reachable(caller, now);
        if (first != null) {
            own(tenure, first, out);
            if (!line.isEmpty()) {
                reserve(tenure, now, out);
            }
            if (first != caller) {
                signalGrant(tenure, first, now, out);
            }
        }
        if (line.size() > bounds.mostHandOvers()) {
            // This tenure does not serve the last claim: it takes a place for the next one.
            push(line.last(), new WatchSignal.Changed(), out);
        }
    }

    private @Nullable LocalClaim reachable(@Nullable LocalClaim caller, long now) {
        return line.reachable(caller, leaseNanos / 2, now);
    }

    @Override
    void own(Tenure tenure, LocalClaim claim, List<Effect> out) {
        line.remove(claim);
        super.own(tenure, claim, out);
        attend(out);
    }

    /** Requests a token for as many owners as the tenure may have: claims may still arrive. */
    void reserve(Tenure tenure, long now, List<Effect> out) {
        out.add(new Effect.Reserve(tenure, tenure.reserve(tenure.token + bounds.mostHandOvers(), now)));
    }

    boolean hasNextToken(Tenure tenure) {
        return tenure.hasNextToken();
    }

    private boolean mayHandOver(Tenure tenure, long now) {
        return !line.isEmpty() && tenure.isWithin(bounds, now);
    }

    @Override
    boolean handOver(Tenure tenure, long now, List<Effect> out) {
        boolean hasTime = tenure.validUntilNanos - now >= leaseNanos / 3;
        if (!hasTime || !mayHandOver(tenure, now) || !hasNextToken(tenure)) {
            return false;
        }
        LocalClaim claim = reachable(null, now);
        if (claim == null) {
            return false;
        }
        tenure.takeNextToken();
        own(tenure, claim, out);
        signalGrant(tenure, claim, now, out);
        return true;
    }

    @Override
    void ended(Tenure tenure, List<Effect> out) {
        if (line.isEmpty()) {
            drained(tenure, out);
        } else if (next == null || !next.isArmed) {
            changed(out);
        } else {
            attend(out);
        }
    }

    /** Withdraws the next tenure: the line is empty, so the back end would grant it the lock for no claim. */
    void drained(Tenure tenure, List<Effect> out) {
        tenure.withdrawn = withdrawNext(out);
    }

    @Nullable
    Tenure withdrawNext(List<Effect> out) {
        Tenure unwanted = next;
        next = null;
        if (unwanted != null) {
            unwanted.isReleased = true;
            if (unwanted.stopWatch()) {
                out.add(new Effect.Unwatch(unwanted));
            }
        }
        return unwanted;
    }

    @Override
    void lose(Tenure tenure, @Nullable LossReason reason, List<Effect> out) {
        super.lose(tenure, reason, out);
        Tenure withdrawn = tenure.withdrawn;
        if (withdrawn != null) {
            tenure.withdrawn = null;
            out.add(new Effect.Release(withdrawn.claim()));
        }
    }

    @Override
    void abandon(Tenure tenure, @Nullable LossReason reason, List<Effect> out) {
        super.abandon(tenure, reason, out);
        out.add(new Effect.Release(tenure.claim()));
    }

    /** Marks an attempt for the next tenure as due, and signals the first claim. */
    private void changed(List<Effect> out) {
        if (next != null) {
            next.isDue = true;
        }
        push(line.first(), new WatchSignal.Changed(), out);
    }

    /**
     * Signals the first claim when the attempt for the next tenure is due, or if it would send its attempt too late.
     */
    private void attend(List<Effect> out) {
        LocalClaim first = line.first();
        if (first != null
                && next != null
                && next.attemptInFlight == 0
                && (next.isDue || first.attemptsByNanos - next.attendedUntilNanos > PATIENCE_NANOS)) {
            push(first, new WatchSignal.Changed(), out);
        }
    }

    // Answers of the back end.

    /** Handles an answer to an attempt. Returns the answer for the claim that sent it, which may own the lock now. */
    LockAttempt answered(
            Tenure tenure, int attempt, @Nullable LocalClaim claim, LockAttempt answer, long now, List<Effect> out) {
        settle(now, out);
        if (tenure.attemptInFlight == attempt) {
            tenure.attemptInFlight = 0;
        }
        if (tenure != holding && tenure != next) {
            if (answer instanceof Acquired && isToBeReleased(tenure, attempt, now)) {
                out.add(new Effect.Release(tenure.claim()));
            }
            return soon(); // the tenure is over: the claim sends an attempt for another one
        }
        if (answer instanceof Acquired acquired) {
            return granted(tenure, attempt, claim, acquired, now, out);
        }
        if (tenure == holding) {
            if (attempt > tenure.grantedAtAttempt) {
                abandon(tenure, LossReason.NOT_HELD, out);
            }
            return soon();
        }
        return notYet(tenure, attempt, claim, answer, now, out);
    }

    private LockAttempt notYet(
            Tenure tenure, int attempt, @Nullable LocalClaim claim, LockAttempt answer, long now, List<Effect> out) {
        boolean hasPlace = answer instanceof Queued;
        long within = StoreDurations.pauseNanos(
                answer instanceof Queued queued
                        ? queued.nextAttemptWithin()
                        : ((Contended) answer).nextAttemptWithin());
        if (hasPlace && !tenure.isArmed) {
            within = Math.min(within, POLLS.pause(attempt, 0.5).toNanos());
        }
        within = Math.min(within, leaseNanos / 3);
        tenure.attendedUntilNanos = now + within;
        // Without a place, the client of the claim decides when to send the next attempt.
        tenure.attemptAgainAtNanos = hasPlace ? now + within : now;
        if (claim != null) {
            claim.attemptsByNanos = now + within;
        }
        attend(out);
        return hasPlace ? new Queued(Duration.ofNanos(within)) : answer;
    }

    private LockAttempt granted(
            Tenure tenure, int attempt, @Nullable LocalClaim claim, Acquired acquired, long now, List<Effect> out) {
        long sentAt = tenure.sentAt(attempt);
        long granted = StoreDurations.leaseNanos(acquired.lease());
        if (Validity.isOver(Validity.until(sentAt, granted), now)) {
            failed(tenure, claim, out);
            return acquired; // The client detects that too, and handles it.
        }
        if (tenure == next) {
            begin(tenure, acquired.fencingToken(), sentAt, granted, claim, now, out);
        } else if (acquired.fencingToken() == tenure.storeToken) {
            tenure.extend(sentAt, granted);
        } else if (attempt > tenure.grantedAtAttempt) {
            tenure.grantedAnew(acquired.fencingToken()); // the lock was lost in between
            tenure.extend(sentAt, granted);
            if (tenure.owner != null) {
                tenure.owner.token = tenure.token;
            }
        }
        if (claim == null || tenure.owner != claim) {
            return soon();
        }
        claim.validUntilNanos = tenure.validUntilNanos;
        return new Acquired(claim.token, acquired.lease());
    }

    /** Handles an attempt without an answer, or with a cancelled caller. */
    void attemptFailed(Tenure tenure, int attempt, @Nullable LocalClaim claim, List<Effect> out) {
        if (tenure.attemptInFlight == attempt) { // otherwise it was answered
            tenure.attemptInFlight = 0;
            failed(tenure, claim, out);
        }
    }

    /** The last attempt failed. The claim that sent it tries again by itself. */
    private void failed(Tenure tenure, @Nullable LocalClaim sender, List<Effect> out) {
        tenure.isDue = true;
        if (tenure == next && line.first() != sender) {
            changed(out);
        }
    }

    /** Handles the answer to {@link Effect.Reserve}. Without an answer, this tenure hands nothing over. */
    void reserved(Tenure tenure, LockClaim asked, @Nullable LockAttempt answer, long now, List<Effect> out) {
        if (answer != null) {
            settle(now, out);
        }
        tenure.isReserving = false;
        if (answer != null && tenure == holding) {
            reserved(tenure, asked, answer instanceof Acquired acquired ? acquired : null, now, out);
        } else if (answer instanceof Acquired && isToBeReleased(tenure, asked.attempt(), now)) {
            // the lock was lost before, and this attempt has taken it again
            out.add(new Effect.Release(tenure.claim()));
        }
        resume(tenure, out);
    }

    private void reserved(Tenure tenure, LockClaim asked, @Nullable Acquired answer, long now, List<Effect> out) {
        if (answer == null) {
            abandon(tenure, LossReason.NOT_HELD, out);
        } else if (answer.fencingToken() == asked.tokenFloor()) {
            // The tenure was valid until this answer arrived, so the back end granted no other claim before it
            // acknowledged the block.
            tenure.acknowledged(asked.tokenFloor(), now);
            tenure.extend(tenure.sentAt(asked.attempt()), StoreDurations.leaseNanos(answer.lease()));
        } else if (answer.fencingToken() > asked.tokenFloor() && answer.fencingToken() != tenure.storeToken) {
            abandon(tenure, LossReason.NOT_HELD, out); // the hold was broken, and this request took the lock anew
        } else {
            tenure.storeToken = answer.fencingToken(); // not the requested block: nothing is handed over
        }
    }

    /** Returns whether an attempt may have taken the lock for a tenure that is over. */
    private static boolean isToBeReleased(Tenure tenure, int attempt, long now) {
        return !tenure.isReleased || now - tenure.sentAt(attempt) >= LATE_NANOS;
    }

    void signalled(Tenure tenure, WatchSignal signal, long now, List<Effect> out) {
        settle(now, out);
        if (signal instanceof WatchSignal.Armed) {
            tenure.isArmed = true;
        }
        if (tenure == holding) {
            signalledToOwner(tenure, signal, out);
        } else if (tenure == next) {
            signalledToLine(tenure, signal, now, out);
        }
    }

    private void signalledToOwner(Tenure tenure, WatchSignal signal, List<Effect> out) {
        if (signal instanceof WatchSignal.Lost lost) {
            lose(tenure, lost.reason(), out);
        } else if (!(signal instanceof WatchSignal.Granted)) {
            push(tenure.owner, new WatchSignal.Changed(), out);
        }
    }

    private void signalledToLine(Tenure tenure, WatchSignal signal, long now, List<Effect> out) {
        if (signal instanceof WatchSignal.Granted granted && tenure.sent.knows(granted.attempt())) {
            long sentAt = tenure.sentAt(granted.attempt());
            long lasts = StoreDurations.leaseNanos(granted.lease());
            if (!Validity.isOver(Validity.until(sentAt, lasts), now)) {
                begin(tenure, granted.fencingToken(), sentAt, lasts, null, now, out);
                return;
            }
        }
        if (tenure.sent.last() > 0 && !tenure.isStarting) {
            changed(out);
        }
    }

    /** Handles the end of the signals. */
    void signalsStopped(Tenure tenure, List<Effect> out) {
        tenure.isArmed = false;
        if (tenure == next) {
            changed(out);
        } else if (tenure == holding) {
            push(tenure.owner, new WatchSignal.Changed(), out);
        }
    }

    @Override
    public String toString() {
        return "%s for %s: %d waiting, holding %s, next %s".formatted(key, lease, line.size(), holding, next);
    }
}
