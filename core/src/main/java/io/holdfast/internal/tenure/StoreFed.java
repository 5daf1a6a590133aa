package io.holdfast.internal.tenure;

import static java.util.Objects.requireNonNull;

import io.holdfast.LossReason;
import io.holdfast.internal.run.StoreDurations;
import io.holdfast.internal.run.Validity;
import io.holdfast.internal.tenure.LocalClaim.Standing;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a run: a tenure serves the claims that the back end names, in its order.
 *
 * <ul>
 * <li>A run is served once. A grant of a known number only proves that the run still has the lock.
 * <li>A member begins on a proof of the back end that is no older than a bound. Else the client renews first.
 * <li>A member that cannot be signalled ends the run before it, and keeps its place at the back end, as all behind it.
 * <li>A run that is lost, or that lasts for longer than a bound, ends before the members that were not served.
 * </ul>
 */
class StoreFed extends TenureRules {

    /** The longest time in which one run begins with members. */
    static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();

    private static final long PROOF_NANOS = Duration.ofSeconds(1).toNanos();

    /** Finds the claim of a member; null when this client has no such claim that can be signalled. */
    private final Function<String, @Nullable LocalClaim> byId;

    private final long number;
    private final List<String> members;
    private final Tenure tenure;

    /** How many members are over, the owner included. */
    private int served;

    private long begunAtNanos;
    private long provenAtNanos;

    /** How old a proof may be. */
    private final long proofNanos;

    private boolean isProving;

    StoreFed(LockClaim any, LockRun run, Function<String, @Nullable LocalClaim> byId) {
        super(any.key(), any.lease());
        this.byId = byId;
        number = run.number();
        members = run.members();
        proofNanos = Math.min(PROOF_NANOS, leaseNanos / 8);
        tenure = new Tenure(
                this,
                LockClaim.first(any.key(), members.get(0), any.lease(), any.waiting())
                        .withClient(any.client()));
        holding = tenure;
    }

    long number() {
        return number;
    }

    boolean isMember(String id) {
        return members.contains(id);
    }

    /** Begins with the first member that waits. Its attempt, if it is the caller, gets the grant as its answer. */
    void begin(long sentAt, long granted, long now, List<Effect> out) {
        tenure.begin(number, Validity.until(sentAt, granted), sentAt + granted, now);
        tenure.ceiling = number + members.size() - 1;
        provenAtNanos = sentAt;
        begunAtNanos = now;
        advance(tenure, now, out);
    }

    /** Handles a proof that the run has the lock. */
    void proven(long sentAt, long granted, long now, List<Effect> out) {
        settle(now, out);
        Tenure tenure = holding;
        if (tenure != null) {
            extend(tenure, sentAt, granted);
        }
    }

    private void extend(Tenure tenure, long sentAt, long granted) {
        tenure.extend(sentAt, granted);
        if (sentAt - provenAtNanos > 0) {
            provenAtNanos = sentAt;
        }
    }

    /** Lets the next member begin, or ends the run. */
    private void advance(Tenure tenure, long now, List<Effect> out) {
        if (!isNextReady(tenure, now)) {
            finish(tenure, out);
        } else if (!isProven(now)) {
            if (!isProving) {
                isProving = true;
                out.add(new Effect.Prove(tenure, now));
            }
        } else {
            LocalClaim next = requireNonNull(byId.apply(members.get(served)));
            tenure.token = number + served;
            served++;
            own(tenure, next, out);
            signalGrant(tenure, next, now, out);
        }
    }

    boolean isProven(long now) {
        return now - provenAtNanos <= proofNanos;
    }

    /** Passes over members that were withdrawn. */
    private boolean isNextReady(Tenure tenure, long now) {
        if (tenure.isDoubted || now - begunAtNanos > LONGEST_NANOS) {
            return false;
        }
        while (served < members.size()) {
            LocalClaim next = byId.apply(members.get(served));
            if (next == null || next.standing == Standing.WAITING) {
                return next != null && next.watch != null && next.attempt > 0;
            }
            served++;
        }
        return false;
    }

    /** Handles the answer to {@link Effect.Prove}; null for a failure. */
    void proved(long sentAt, @Nullable Renewal answer, long now, List<Effect> out) {
        isProving = false;
        settle(now, out);
        Tenure tenure = holding;
        if (tenure == null) {
            return;
        }
        if (answer instanceof Renewal.Held held) {
            extend(tenure, sentAt, StoreDurations.leaseNanos(held.lease()));
        } else if (answer instanceof Renewal.NotHeld) {
            lose(tenure, LossReason.NOT_HELD, out);
            return;
        }
        if (tenure.owner == null) {
            if (answer instanceof Renewal.Held && isProven(now)) {
                advance(tenure, now, out);
            } else {
                finish(tenure, out);
            }
        }
    }

    @Override
    Reply<Ownership> release(LocalClaim claim, long now, List<Effect> out) {
        settle(now, out);
        Tenure tenure = requireNonNull(claim.tenure);
        if (claim.standing == Standing.WAITING) {
            claim.standing = Standing.OUTSIDE;
            if (tenure == holding && tenure.owner == null && !isNextReady(tenure, now)) {
                finish(tenure, out);
            }
            return new Reply.Forward<>();
        }
        if (claim.standing == Standing.OWNER && tenure == holding) {
            if (handOver(tenure, now, out)) {
                return over(claim, Ownership.HELD);
            }
            end(tenure, out);
            claim.standing = Standing.LEAVING;
        }
        return claim.standing == Standing.LEAVING ? new Reply.Ask<>(tenure, tenure.claim()) : new Reply.Forward<>();
    }

    int served() {
        return served;
    }

    @Override
    boolean hasNext() {
        return served < members.size();
    }

    @Override
    boolean handOver(Tenure tenure, long now, List<Effect> out) {
        if (!isNextReady(tenure, now)) {
            return false;
        }
        tenure.owner = null;
        advance(tenure, now, out);
        return true;
    }

    /** The back end still takes the run for the holder: it has not got the end. */
    void endAgain(List<Effect> out) {
        out.add(new Effect.EndRun(tenure, served));
    }

    private void finish(Tenure tenure, List<Effect> out) {
        end(tenure, out);
        out.add(new Effect.EndRun(tenure, served));
    }

    /** The back end may have ended the run without knowing which members are over. */
    @Override
    void lose(Tenure tenure, @Nullable LossReason reason, List<Effect> out) {
        super.lose(tenure, reason, out);
        out.add(new Effect.EndRun(tenure, served));
        tellNext(out);
    }

    @Override
    void abandon(Tenure tenure, @Nullable LossReason reason, List<Effect> out) {
        lose(tenure, reason, out);
    }

    /** The lease of an owner may end before that of the run. Then nobody knows whether its work has ended. */
    @Override
    void settle(long now, List<Effect> out) {
        Tenure tenure = holding;
        LocalClaim owner = tenure == null ? null : tenure.owner;
        if (tenure != null
                && owner != null
                && owner.standing == Standing.OWNER
                && Validity.isOver(owner.validUntilNanos, now)) {
            abandon(tenure, null, out);
        } else {
            super.settle(now, out);
        }
    }

    /** The owner goes on in another client, under its own claim. */
    void exported(List<Effect> out) {
        holding = null;
        tellNext(out);
    }

    private void tellNext(List<Effect> out) {
        if (served < members.size()) {
            push(byId.apply(members.get(served)), new WatchSignal.Changed(), out);
        }
    }

    /** The members that were not served wait at the back end, as before. */
    @Override
    void ended(Tenure tenure, List<Effect> out) {}

    @Override
    void renewed(
            Tenure tenure, @Nullable LocalClaim claim, long sentAtNanos, Renewal answer, long now, List<Effect> out) {
        if (answer instanceof Renewal.Held && sentAtNanos - provenAtNanos > 0) {
            provenAtNanos = sentAtNanos;
        }
        super.renewed(tenure, claim, sentAtNanos, answer, now, out);
    }
}
