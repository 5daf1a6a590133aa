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
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Sinks;

/**
 * The rules of {@link io.holdfast.LocalHandOver}, which describes them: a tenure serves claims that wait in this process
 * only. Later attempts for the place of a tenure are those of the waiting claims.
 */
class ClientFed extends TenureRules {

    /** How much later than the first claim another claim sends the attempt for the next tenure. */
    private static final long PATIENCE_NANOS = 50 * MILLI;

    /** The pauses between attempts, increasingly long, while signals do not arrive. */
    private static final Backoff POLLS = Backoff.exponential(Duration.ofMillis(50), Duration.ofSeconds(1));

    /** A back end remembers a release for longer. After that, an attempt that arrives late may take the lock again. */
    private static final long LATE_NANOS = Duration.ofSeconds(4).toNanos();

    /** The claims that wait in this process, in order of arrival. Any of them may leave while thousands wait. */
    final Set<LocalClaim> line = new LinkedHashSet<>();

    private final Bounds bounds;

    /** The tenure that has a place at the back end, or is about to take one. */
    private @Nullable Tenure next;

    private int tenures;

    ClientFed(LockKey key, Duration lease, Bounds bounds) {
        super(key, lease);
        this.bounds = bounds;
    }

    @Override
    boolean hasNext() {
        return !line.isEmpty();
    }

    Reply<LockAttempt> tryAcquire(LocalClaim claim, int attempt, Moment at) {
        settle(at);
        if (attempt < claim.attempt || claim.standing == Standing.PASSING || claim.standing == Standing.LEAVING) {
            return queued(claim, leaseNanos / 3, at.now()); // A later attempt, or the release, has overtaken this one.
        }
        claim.attempt = attempt;
        claim.attemptedAtNanos = at.now();
        if (claim.standing == Standing.OUTSIDE || isLost(claim)) {
            claim.tenure = null;
            claim.standing = Standing.WAITING;
            line.add(claim);
        }
        Tenure tenure = holding;
        if (tenure != null && tenure.owner == null && claim == reachable(claim, at.now())) {
            own(tenure, claim, at);
        }
        return tenure != null && tenure.owner == claim ? ask(tenure, at.now()) : waitForNext(claim, at);
    }

    private Reply<LockAttempt> waitForNext(LocalClaim claim, Moment at) {
        Tenure tenure = nextFor(claim);
        if (claim.watch != null && !tenure.isWatched) {
            boolean hasPlace = tenure.sent.last() > 0;
            tenure.isWatched = true;
            tenure.isStarting = !hasPlace;
            tenure.isDue = hasPlace; // The back end must know first that a signal about its grant would arrive.
            at.out().add(new Effect.Watch(tenure));
        }
        // The first claim sends the attempts for all; if it does not, the others do, a little later.
        boolean isFirst = claim == first();
        long dueAt = isFirst ? tenure.attemptAgainAtNanos : tenure.attendedUntilNanos + PATIENCE_NANOS;
        if (tenure.attemptInFlight != 0) {
            return queued(claim, untilOwnerIsOver(PATIENCE_NANOS, at.now()), at.now());
        }
        if (tenure.sent.last() == 0 || tenure.isDue || Validity.isOver(dueAt, at.now())) {
            claim.attemptsByNanos = at.now();
            return ask(tenure, at.now());
        }
        return queued(claim, untilOwnerIsOver(dueAt - at.now(), at.now()), at.now());
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
    Reply<Ownership> release(LocalClaim claim, Moment at) {
        settle(at);
        if (claim.standing == Standing.OUTSIDE) {
            return over(claim, Ownership.NOT_HELD);
        }
        if (claim.standing == Standing.WAITING) {
            return leave(claim, at);
        }
        Tenure tenure = requireNonNull(claim.tenure);
        if (tenure == holding && tenure.owner == claim) {
            if (claim.standing == Standing.OWNER && tenure.isReserving && mayHandOver(tenure, at.now())) {
                claim.standing = Standing.PASSING;
                tenure.postponed = Sinks.empty();
                return new Reply.Later<>(tenure.postponed);
            }
            if (!tenure.isReserving && handOver(tenure, at)) {
                return over(claim, Ownership.HELD);
            }
            end(tenure, at);
        }
        return release(tenure, claim);
    }

    private Reply<Ownership> leave(LocalClaim claim, Moment at) {
        boolean wasFirst = first() == claim;
        line.remove(claim);
        Tenure tenure = holding;
        if (tenure != null && tenure.owner == null && line.isEmpty()) { // granted while no claim could be signalled
            end(tenure, at);
            return release(tenure, claim);
        }
        if (keepsPlace(wasFirst)) {
            attend(at);
            return over(claim, Ownership.NOT_HELD);
        }
        Tenure unwanted = withdrawNext(at);
        return unwanted == null ? over(claim, Ownership.NOT_HELD) : release(unwanted, claim);
    }

    boolean keepsPlace(boolean firstHasLeft) {
        return !line.isEmpty();
    }

    private static Reply<Ownership> release(Tenure tenure, LocalClaim claim) {
        claim.standing = Standing.LEAVING;
        claim.tenure = tenure;
        tenure.isReleased = true;
        return new Reply.Ask<>(tenure, tenure.lastClaim());
    }

    private void begin(Tenure tenure, long token, long sentAt, long granted, @Nullable LocalClaim caller, Moment at) {
        Tenure before = holding;
        holding = tenure;
        next = null;
        if (before != null) {
            lose(before, LossReason.NOT_HELD, at); // otherwise the back end would not have granted another claim
        }
        tenure.begin(token, Validity.until(sentAt, granted), sentAt + granted, at.now());
        if (line.isEmpty()) {
            abandon(tenure, null, at);
            return;
        }
        LocalClaim first = reachable(caller, at.now());
        if (first != null) {
            own(tenure, first, at);
            if (!line.isEmpty()) {
                reserve(tenure, at);
            }
            if (first != caller) {
                signalGrant(tenure, first, at);
            }
        }
        if (line.size() > bounds.maxHandOvers()) {
            // This tenure does not serve that claim: it takes a place for the next one.
            LocalClaim unserved =
                    line.stream().skip(bounds.maxHandOvers()).findFirst().orElse(null);
            push(unserved, new WatchSignal.Changed(), at);
        }
    }

    private @Nullable LocalClaim first() {
        return line.isEmpty() ? null : line.iterator().next();
    }

    /** Returns the first claim that calls now, or that can get a signal and has sent an attempt not long ago. */
    private @Nullable LocalClaim reachable(@Nullable LocalClaim caller, long now) {
        for (LocalClaim claim : line) {
            if (claim == caller || (claim.watch != null && now - claim.attemptedAtNanos < leaseNanos / 2)) {
                return claim;
            }
        }
        return null;
    }

    @Override
    void own(Tenure tenure, LocalClaim claim, Moment at) {
        line.remove(claim);
        super.own(tenure, claim, at);
        attend(at);
    }

    /** Requests a token for as many owners as the tenure may have: claims may still arrive. */
    void reserve(Tenure tenure, Moment at) {
        at.out().add(new Effect.Reserve(tenure, tenure.reserve(tenure.token + bounds.maxHandOvers(), at.now())));
    }

    boolean hasNextToken(Tenure tenure) {
        return tenure.hasNextToken();
    }

    private boolean mayHandOver(Tenure tenure, long now) {
        return !line.isEmpty() && tenure.isWithin(bounds, now);
    }

    @Override
    boolean handOver(Tenure tenure, Moment at) {
        boolean hasTime = tenure.validUntilNanos - at.now() >= leaseNanos / 3;
        if (!hasTime || !mayHandOver(tenure, at.now()) || !hasNextToken(tenure)) {
            return false;
        }
        LocalClaim claim = reachable(null, at.now());
        if (claim == null) {
            return false;
        }
        tenure.takeNextToken();
        own(tenure, claim, at);
        signalGrant(tenure, claim, at);
        return true;
    }

    @Override
    void ended(Tenure tenure, Moment at) {
        if (line.isEmpty()) {
            drained(tenure, at);
        } else if (next == null || !next.isArmed) {
            changed(at);
        } else {
            attend(at);
        }
    }

    /** Withdraws the next tenure: the line is empty, so the back end would grant it the lock for no claim. */
    void drained(Tenure tenure, Moment at) {
        tenure.withdrawn = withdrawNext(at);
    }

    @Nullable
    Tenure withdrawNext(Moment at) {
        Tenure unwanted = next;
        next = null;
        if (unwanted != null) {
            unwanted.isReleased = true;
            if (unwanted.isWatched) {
                at.out().add(new Effect.Unwatch(unwanted));
            }
        }
        return unwanted;
    }

    @Override
    void lose(Tenure tenure, @Nullable LossReason reason, Moment at) {
        super.lose(tenure, reason, at);
        Tenure withdrawn = tenure.withdrawn;
        if (withdrawn != null) {
            tenure.withdrawn = null;
            at.out().add(new Effect.Release(withdrawn.lastClaim()));
        }
    }

    @Override
    void abandon(Tenure tenure, @Nullable LossReason reason, Moment at) {
        super.abandon(tenure, reason, at);
        at.out().add(new Effect.Release(tenure.lastClaim()));
    }

    private void changed(Moment at) {
        if (next != null) {
            next.isDue = true;
        }
        push(first(), new WatchSignal.Changed(), at);
    }

    /** Signals the first claim when the attempt for the next tenure is due before it would send it. */
    private void attend(Moment at) {
        LocalClaim first = first();
        if (first != null
                && next != null
                && next.attemptInFlight == 0
                && (next.isDue || first.attemptsByNanos - next.attendedUntilNanos > PATIENCE_NANOS)) {
            push(first, new WatchSignal.Changed(), at);
        }
    }

    LockAttempt answered(Tenure tenure, int attempt, @Nullable LocalClaim claim, LockAttempt answer, Moment at) {
        settle(at);
        if (tenure.attemptInFlight == attempt) {
            tenure.attemptInFlight = 0;
        }
        if (tenure != holding && tenure != next) {
            if (answer instanceof Acquired && isToBeReleased(tenure, attempt, at.now())) {
                at.out().add(new Effect.Release(tenure.lastClaim()));
            }
            return soon(); // the tenure is over: the claim sends an attempt for another one
        }
        if (answer instanceof Acquired acquired) {
            return granted(tenure, attempt, claim, acquired, at);
        }
        if (tenure == holding) {
            if (attempt > tenure.grantedAtAttempt) {
                abandon(tenure, LossReason.NOT_HELD, at);
            }
            return soon();
        }
        return notYet(tenure, attempt, claim, answer, at);
    }

    private LockAttempt notYet(Tenure tenure, int attempt, @Nullable LocalClaim claim, LockAttempt answer, Moment at) {
        boolean hasPlace = answer instanceof Queued;
        long within = StoreDurations.pauseNanos(
                answer instanceof Queued queued
                        ? queued.nextAttemptWithin()
                        : ((Contended) answer).nextAttemptWithin());
        if (hasPlace && !tenure.isArmed) {
            within = Math.min(within, POLLS.pause(attempt, 0.5).toNanos());
        }
        within = Math.min(within, leaseNanos / 3);
        tenure.attendedUntilNanos = at.now() + within;
        // Without a place, the client of the claim decides when to send the next attempt.
        tenure.attemptAgainAtNanos = hasPlace ? at.now() + within : at.now();
        if (claim != null) {
            claim.attemptsByNanos = at.now() + within;
        }
        attend(at);
        return hasPlace ? new Queued(Duration.ofNanos(within)) : answer;
    }

    private LockAttempt granted(Tenure tenure, int attempt, @Nullable LocalClaim claim, Acquired acquired, Moment at) {
        long sentAt = tenure.sentAt(attempt);
        long granted = StoreDurations.leaseNanos(acquired.lease());
        if (Validity.isOver(Validity.until(sentAt, granted), at.now())) {
            failed(tenure, claim, at);
            return acquired; // The client detects that too, and handles it.
        }
        if (tenure == next) {
            begin(tenure, acquired.fencingToken(), sentAt, granted, claim, at);
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

    void attemptFailed(Tenure tenure, int attempt, @Nullable LocalClaim claim, Moment at) {
        if (tenure.attemptInFlight == attempt) { // otherwise it was answered
            tenure.isUnanswered = true;
            tenure.attemptInFlight = 0;
            failed(tenure, claim, at);
        }
    }

    /** The last attempt failed. The claim that sent it tries again by itself. */
    private void failed(Tenure tenure, @Nullable LocalClaim sender, Moment at) {
        tenure.isDue = true;
        if (tenure == next && first() != sender) {
            changed(at);
        }
    }

    /** Handles the answer to {@link Effect.Reserve}. Without an answer, this tenure hands nothing over. */
    void reserved(Tenure tenure, LockClaim asked, @Nullable LockAttempt answer, Moment at) {
        if (answer != null) {
            settle(at);
        }
        tenure.isUnanswered |= answer == null;
        tenure.isReserving = false;
        if (answer != null && tenure == holding) {
            reserved(tenure, asked, answer instanceof Acquired acquired ? acquired : null, at);
        } else if (answer instanceof Acquired && isToBeReleased(tenure, asked.attempt(), at.now())) {
            // the lock was lost before, and this attempt has taken it again
            at.out().add(new Effect.Release(tenure.lastClaim()));
        }
        resume(tenure, at);
    }

    private void reserved(Tenure tenure, LockClaim asked, @Nullable Acquired answer, Moment at) {
        if (answer == null) {
            abandon(tenure, LossReason.NOT_HELD, at);
        } else if (answer.fencingToken() == asked.tokenFloor()) {
            // The tenure was valid until this answer arrived, so the back end granted no other claim before it
            // acknowledged the block.
            tenure.acknowledged(asked.tokenFloor(), at.now());
            tenure.extend(tenure.sentAt(asked.attempt()), StoreDurations.leaseNanos(answer.lease()));
        } else if (answer.fencingToken() > asked.tokenFloor() && answer.fencingToken() != tenure.storeToken) {
            abandon(tenure, LossReason.NOT_HELD, at); // the hold was broken, and this request took the lock anew
        } else {
            tenure.storeToken = answer.fencingToken(); // not the requested block: nothing is handed over
        }
    }

    private static boolean isToBeReleased(Tenure tenure, int attempt, long now) {
        return !tenure.isReleased || now - tenure.sentAt(attempt) >= LATE_NANOS;
    }

    void signalled(Tenure tenure, WatchSignal signal, Moment at) {
        settle(at);
        if (signal instanceof WatchSignal.Armed) {
            tenure.isArmed = true;
        }
        if (tenure == holding) {
            signalledToOwner(tenure, signal, at);
        } else if (tenure == next) {
            signalledToLine(tenure, signal, at);
        }
    }

    private void signalledToOwner(Tenure tenure, WatchSignal signal, Moment at) {
        if (signal instanceof WatchSignal.Lost lost) {
            lose(tenure, lost.reason(), at);
        } else if (!(signal instanceof WatchSignal.Granted)) {
            push(tenure.owner, new WatchSignal.Changed(), at);
        }
    }

    private void signalledToLine(Tenure tenure, WatchSignal signal, Moment at) {
        if (signal instanceof WatchSignal.Granted granted && tenure.sent.knows(granted.attempt())) {
            long sentAt = tenure.sentAt(granted.attempt());
            long lasts = StoreDurations.leaseNanos(granted.lease());
            if (!Validity.isOver(Validity.until(sentAt, lasts), at.now())) {
                begin(tenure, granted.fencingToken(), sentAt, lasts, null, at);
                return;
            }
        }
        if (tenure.sent.last() > 0 && !tenure.isStarting) {
            changed(at);
        }
    }

    void signalsStopped(Tenure tenure, Moment at) {
        tenure.isArmed = false;
        if (tenure == next) {
            changed(at);
        } else if (tenure == holding) {
            push(tenure.owner, new WatchSignal.Changed(), at);
        }
    }

    @Override
    public String toString() {
        return "%s for %s: %d waiting, holding %s, next %s".formatted(key, lease, line.size(), holding, next);
    }
}
