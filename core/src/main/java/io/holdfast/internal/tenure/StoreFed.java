package io.holdfast.internal.tenure;

import io.holdfast.LossReason;
import io.holdfast.internal.tenure.LocalClaim.Standing;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a run: a tenure serves the claims that the back end names, in its order.
 *
 * <ul>
 * <li>A run is served once. A grant of a known number only proves that the run still has the lock.
 * <li>Members begin within a second, or an eighth of the lease, of the grant. Then the run ends, and the others wait at the back end as
 *     before. So no member begins long after an end of the run that this client has not heard of.
 * <li>A member that this client does not know is over. One that cannot be signalled ends the run before it.
 * <li>A run that is lost, or in doubt, ends before the members that were not served.
 * <li>A run with a member of an earlier one whose request to go on alone has no answer serves none: that request may end it.
 * </ul>
 */
class StoreFed extends TenureRules {

    /** The longest time in which one run begins with members, unless an eighth of the lease is shorter. */
    static final long LONGEST_NANOS = Duration.ofSeconds(1).toNanos();

    /** Finds the claim of a member; null when this client has no such claim any more. */
    private final Function<String, @Nullable LocalClaim> byId;

    final LockRun lockRun;
    private final Tenure tenure;

    /** How many members are over, the owner included. */
    private int served;

    private long beginsUntilNanos;

    /** Whether a request that a member sent in an earlier run may still come, and end this one. */
    private boolean mayEndAtAnyTime;

    /** The last owner, once it has asked to go on alone: the number must not be ended before that request. */
    private @Nullable LocalClaim alone;

    StoreFed(LockClaim any, LockRun run, Function<String, @Nullable LocalClaim> byId) {
        super(any.key(), any.lease());
        this.byId = byId;
        lockRun = run;
        tenure = new Tenure(
                this,
                LockClaim.first(any.key(), run.members().get(0), any.lease(), any.waiting())
                        .withClient(any.client()));
        holding = tenure;
    }

    /** Begins with the first member that waits. Its attempt, if it is the caller, gets the grant as its answer. */
    void begin(long sentAt, long granted, Moment at) {
        tenure.begin(lockRun.number(), Validity.until(sentAt, granted), sentAt + granted, at.now());
        tenure.ceiling = lockRun.lastToken();
        beginsUntilNanos = at.now() + Math.min(LONGEST_NANOS, leaseNanos / 8);
        mayEndAtAnyTime = lockRun.members().stream().map(byId).anyMatch(StoreFed::isAlone);
        if (!handOver(tenure, at)) {
            end(tenure, at);
            endAgain(at);
        }
    }

    void proven(long sentAt, long granted, Moment at) {
        settle(at);
        if (holding != null) {
            tenure.extend(sentAt, granted);
        }
    }

    /** Returns the next member that may begin now; null for none. Passes over members that are over. */
    private @Nullable LocalClaim next(long now) {
        if (tenure.isDoubted || Validity.isOver(beginsUntilNanos, now)) {
            return null;
        }
        for (; hasNext(); served++) {
            LocalClaim next = byId.apply(lockRun.members().get(served));
            if (next != null && next.standing == Standing.WAITING) {
                return next.watch != null && next.attempt > 0 && !mayEndAtAnyTime ? next : null;
            }
        }
        return null;
    }

    @Override
    Reply<Ownership> release(LocalClaim claim, Moment at) {
        settle(at);
        if (claim.standing == Standing.WAITING) {
            claim.standing = Standing.OUTSIDE;
        } else if (claim.standing == Standing.OWNER && tenure == holding) {
            if (handOver(tenure, at)) {
                return over(claim, Ownership.HELD);
            }
            end(tenure, at);
            claim.standing = Standing.LEAVING;
        } else if (claim.standing == Standing.PARTING) {
            claim.standing = Standing.LEAVING;
        }
        if (claim.standing != Standing.LEAVING) {
            return new Reply.Forward<>();
        }
        return claim == alone ? new Reply.ForwardThenAsk<>(tenure) : new Reply.Ask<>(tenure, tenure.claim());
    }

    int served() {
        return served;
    }

    @Override
    boolean hasNext() {
        return served < lockRun.members().size();
    }

    @Override
    boolean handOver(Tenure tenure, Moment at) {
        LocalClaim next = next(at.now());
        if (next == null) {
            return false;
        }
        tenure.token = lockRun.token(served);
        served++;
        own(tenure, next, at);
        signalGrant(tenure, next, at);
        return true;
    }

    /** Also when the back end still takes the run for the holder: it has not got the end. */
    void endAgain(Moment at) {
        if (alone == null) {
            at.out().add(new Effect.EndRun(tenure, served));
        }
    }

    /** The back end may have ended the run without knowing which members are over. */
    @Override
    void lose(Tenure tenure, @Nullable LossReason reason, Moment at) {
        super.lose(tenure, reason, at);
        endAgain(at);
        push(byId.apply(nextId()), new WatchSignal.Changed(), at);
    }

    /** If the lease of an owner ends before that of the run, its work may go on: so no other member begins. */
    @Override
    void settle(Moment at) {
        LocalClaim owner = tenure.owner;
        if (tenure == holding
                && owner != null
                && owner.standing == Standing.OWNER
                && Validity.isOver(owner.validUntilNanos, at.now())) {
            abandon(tenure, null, at);
        } else {
            super.settle(at);
        }
    }

    void goesOnAlone(LocalClaim owner, Moment at) {
        alone = owner;
        owner.standing = Standing.PARTING;
        holding = null;
    }

    /** Returns whether a claim has asked to go on alone, and has no answer. */
    static boolean isAlone(@Nullable LocalClaim claim) {
        return claim != null && claim.of instanceof StoreFed run && run.alone == claim;
    }

    void releasedAlone(LocalClaim claim) {
        alone = claim == alone ? null : alone;
    }

    /** The back end may still take the run for the holder. */
    void isNotAlone(Moment at) {
        alone = null;
        endAgain(at);
    }

    /** Returns the first member that was not served; empty for none. */
    String nextId() {
        return hasNext() ? lockRun.members().get(served) : "";
    }
}
