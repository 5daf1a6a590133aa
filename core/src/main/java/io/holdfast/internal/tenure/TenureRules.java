package io.holdfast.internal.tenure;

import io.holdfast.LossReason;
import io.holdfast.internal.tenure.LocalClaim.Standing;
import io.holdfast.internal.timing.StoreDurations;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The rules of one lock of one process, for claims of one lease duration: what holds for each tenure, whichever claims
 * it serves next.
 *
 * <ul>
 * <li>Each owner has its own token.
 * <li>No lease of an owner is valid for longer than its tenure. A lost tenure hands nothing over.
 * <li>A tenure whose renewal is in doubt hands nothing over.
 * </ul>
 *
 * <p>Times are nanoseconds on this process's clock; only their differences count. Not thread-safe.
 */
abstract class TenureRules {

    static final long MILLI = 1_000_000;

    final LockKey key;
    final Duration lease;
    final long leaseNanos;

    @Nullable
    Tenure holding;

    /** The number of claims that use these rules; counted by {@link ClaimTable}. */
    int claims;

    TenureRules(LockKey key, Duration lease) {
        this.key = key;
        this.lease = lease;
        leaseNanos = lease.toNanos();
    }

    abstract Reply<Ownership> release(LocalClaim claim, Moment at);

    /** Hands the lock to the next claim. Returns false when the tenure is over. */
    abstract boolean handOver(Tenure tenure, Moment at);

    abstract boolean hasNext();

    void ended(Tenure tenure, Moment at) {}

    /** Ends a tenure that is lost or unwanted, also at the back end. */
    void abandon(Tenure tenure, @Nullable LossReason reason, Moment at) {
        lose(tenure, reason, at);
    }

    void own(Tenure tenure, LocalClaim claim, Moment at) {
        tenure.own(claim);
    }

    void signalGrant(Tenure tenure, LocalClaim owner, Moment at) {
        Duration counted = Duration.ofNanos(leaseFor(tenure, owner, at.now()));
        push(owner, new WatchSignal.Granted(owner.token, owner.attempt, counted), at);
    }

    long leaseFor(Tenure tenure, LocalClaim owner, long now) {
        return tenure.leaseFor(owner);
    }

    void end(Tenure tenure, Moment at) {
        tenure.owner = null;
        if (tenure.isWatched) {
            at.out().add(new Effect.Unwatch(tenure));
        }
        if (tenure == holding) {
            holding = null;
            ended(tenure, at);
        }
    }

    /** The back end does not keep the lock for a tenure any more. Without a reason, the owner finds that by itself. */
    void lose(Tenure tenure, @Nullable LossReason reason, Moment at) {
        if (reason != null) {
            push(tenure.owner, new WatchSignal.Lost(reason), at);
        }
        resume(tenure, at);
        end(tenure, at);
    }

    void settle(Moment at) {
        Tenure tenure = holding;
        if (tenure == null) {
            return;
        }
        if (Validity.isOver(tenure.validUntilNanos, at.now())) {
            lose(tenure, null, at);
            return;
        }
        LocalClaim owner = tenure.owner;
        if (owner != null
                && hasNext()
                && owner.standing == Standing.OWNER
                && Validity.isOver(owner.validUntilNanos, at.now())) {
            owner.leave();
            if (tenure.isReserving || !handOver(tenure, at)) {
                abandon(tenure, null, at);
            }
        }
    }

    void renewed(Tenure tenure, @Nullable LocalClaim claim, long sentAtNanos, Renewal answer, Moment at) {
        if (answer instanceof Renewal.Held held) {
            if (!Validity.isOver(tenure.validUntilNanos, at.now())) {
                tenure.extend(sentAtNanos, StoreDurations.leaseNanos(held.lease()));
            }
            if (claim != null && tenure.owner == claim) {
                claim.validUntilNanos = tenure.validUntilNanos;
            }
        } else if (answer instanceof Renewal.NotHeld) {
            LossReason told = tenure.owner == claim ? null : LossReason.NOT_HELD;
            if (tenure == holding && tenure.isUnanswered) {
                abandon(tenure, told, at); // that attempt would take the lock for no claim
            } else if (tenure == holding) {
                lose(tenure, told, at);
            }
        } else {
            tenure.isDoubted = true;
        }
        settle(at);
    }

    /** An owner whose tenure was lost may still have the signal on its way to its client. */
    boolean isLost(LocalClaim claim) {
        return claim.standing == Standing.OWNER && claim.tenure != holding;
    }

    /** Returns whether the client of this claim may have forgotten it: it needs neither an answer nor a release. */
    boolean isForgotten(LocalClaim claim, long now) {
        Tenure tenure = claim.tenure;
        return tenure != null
                && (claim.standing == Standing.PARTING || claim.standing == Standing.LEAVING || isLost(claim))
                && now - claim.attemptedAtNanos > 2 * leaseNanos
                && tenure != holding
                && now - tenure.expiresAtNanos > leaseNanos;
    }

    static Reply<Ownership> over(LocalClaim claim, Ownership answer) {
        claim.leave();
        return new Reply.Answer<>(answer);
    }

    static LockAttempt soon() {
        return new Queued(Duration.ofNanos(MILLI));
    }

    static void resume(Tenure tenure, Moment at) {
        if (tenure.postponed != null) {
            at.out().add(new Effect.Resume(tenure.postponed));
            tenure.postponed = null;
        }
    }

    static void push(@Nullable LocalClaim claim, WatchSignal signal, Moment at) {
        if (claim != null && claim.watch != null) {
            at.out().add(new Effect.Push(claim.watch, signal));
        }
    }

    /** Keeps the owner's label at the end. */
    static String idOfTenure(String id, int number) {
        int mark = id.indexOf(LockClaim.OWNER_MARK);
        int end = mark < 0 ? id.length() : mark;
        return id.substring(0, end) + 't' + Integer.toString(number, Character.MAX_RADIX) + id.substring(end);
    }
}
