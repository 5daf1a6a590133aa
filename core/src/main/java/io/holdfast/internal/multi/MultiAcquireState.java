package io.holdfast.internal.multi;

import io.holdfast.internal.multi.MultiAcquireAction.Deliver;
import io.holdfast.internal.multi.MultiAcquireAction.Fail;
import io.holdfast.internal.multi.MultiAcquireAction.FailLost;
import io.holdfast.internal.multi.MultiAcquireAction.FailTimedOut;
import io.holdfast.internal.multi.MultiAcquireAction.NotAvailable;
import io.holdfast.internal.multi.MultiAcquireAction.Release;
import io.holdfast.internal.multi.MultiAcquireAction.TryEach;
import io.holdfast.internal.multi.MultiAcquireAction.WaitFor;
import io.holdfast.internal.multi.MultiAcquireAction.Withdraw;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of one acquisition of many locks: it takes all of them, or none.
 *
 * <p>Waiting for one lock while others are held leads to a deadlock unless all clients wait in one order. So an
 * acquisition waits only for the first lock, in the canonical order, that it does not hold. Meanwhile it holds only
 * locks before that one. Trying needs no such rule, because it does not wait. The acquisition tries all missing locks
 * at once, at first and again when it has got the lock that it waited for. It releases at once the locks that it has
 * tried successfully and that come after the first missing one.
 *
 * @param count how many, at most 64
 * @param waits whether it waits for members that are not available
 * @param held bits of the members that it holds
 * @param asked bits of the members whose try or wait is under way
 * @param isWaiting whether the member in {@code asked} is waited for
 * @param isOver whether it has delivered, failed or was cancelled
 * @param failure the first failure of the tries; null for none, and for an acquisition that waits, because the wait
 *     meets the failure again
 */
public record MultiAcquireState(
        int count,
        boolean waits,
        long held,
        long asked,
        boolean isWaiting,
        boolean isOver,
        @Nullable Throwable failure) {

    /** The number of bits in a set. */
    public static final int MOST = Long.SIZE;

    /**
     * A decision.
     *
     * @param state the next state
     * @param actions the actions, in this order
     */
    public record Step(MultiAcquireState state, List<MultiAcquireAction> actions) {}

    /**
     * Begins with a try of all members.
     *
     * @param count how many, 1 to {@link #MOST}
     * @param waits whether it waits
     * @return the first step
     */
    public static Step start(int count, boolean waits) {
        if (count < 1 || count > MOST) {
            throw new IllegalArgumentException("1 to %d locks, not %d".formatted(MOST, count));
        }
        long all = all(count);
        return new Step(new MultiAcquireState(count, waits, 0, all, false, false, null), List.of(new TryEach(all)));
    }

    /**
     * Handles the grant of a member.
     *
     * @param member the member
     * @return the next step
     */
    public Step granted(int member) {
        if (isOver) {
            return new Step(this, List.of(new Release(bit(member)))); // The grant came after the end.
        }
        return answered(member, held | bit(member), failure);
    }

    /**
     * Handles a member that is not available.
     *
     * @param member the member
     * @return the next step
     */
    public Step refused(int member) {
        return isOver ? none() : answered(member, held, failure);
    }

    /**
     * Handles a failed try or wait.
     *
     * @param member the member
     * @param error the failure
     * @return the next step
     */
    public Step failed(int member, Throwable error) {
        if (isOver) {
            return none();
        }
        if (isWaiting) {
            return end(held, asked & ~bit(member), new Fail(error));
        }
        Throwable first = waits || failure != null ? failure : error;
        return answered(member, held, first);
    }

    /**
     * Handles the loss of a member.
     *
     * @param member the member
     * @return the next step
     */
    public Step lost(int member) {
        boolean isHeld = (held & bit(member)) != 0; // otherwise it was released before the loss
        return isHeld ? end(held & ~bit(member), asked, new FailLost(member)) : none();
    }

    /**
     * Handles the end of the time limit. A wait for one member has the rest of that time as its own limit, and ends by
     * itself.
     *
     * @return the next step
     */
    public Step timedOut() {
        return isOver || isWaiting ? none() : end(held, asked, new FailTimedOut(Long.numberOfTrailingZeros(asked)));
    }

    /**
     * Handles a cancellation by the subscriber.
     *
     * @return the next step
     */
    public Step left() {
        return isOver ? none() : end(held, asked, null);
    }

    private Step answered(int member, long heldNow, @Nullable Throwable failureNow) {
        long stillAsked = asked & ~bit(member);
        long missing = all(count) & ~heldNow;
        if (stillAsked != 0) {
            return next(heldNow, stillAsked, false, failureNow);
        } else if (missing == 0) {
            return new Step(over(), List.of(new Deliver()));
        } else if (isWaiting) {
            return next(heldNow, missing, false, null, new TryEach(missing));
        } else if (failureNow != null) {
            return end(heldNow, 0, new Fail(failureNow));
        } else if (!waits) {
            return end(heldNow, 0, new NotAvailable());
        }
        return waitFor(Long.numberOfTrailingZeros(missing), heldNow);
    }

    private Step waitFor(int firstMissing, long heldNow) {
        long kept = heldNow & (bit(firstMissing) - 1);
        WaitFor wait = new WaitFor(firstMissing);
        return kept == heldNow
                ? next(kept, bit(firstMissing), true, null, wait)
                : next(kept, bit(firstMissing), true, null, new Release(heldNow & ~kept), wait);
    }

    private Step next(
            long heldNow,
            long askedNow,
            boolean isWait,
            @Nullable Throwable failureNow,
            MultiAcquireAction... actions) {
        return new Step(
                new MultiAcquireState(count, waits, heldNow, askedNow, isWait, false, failureNow), List.of(actions));
    }

    private Step end(long release, long withdraw, @Nullable MultiAcquireAction last) {
        List<MultiAcquireAction> actions = new ArrayList<>();
        if (withdraw != 0) {
            actions.add(new Withdraw(withdraw));
        }
        if (release != 0) {
            actions.add(new Release(release));
        }
        if (last != null) {
            actions.add(last);
        }
        return new Step(over(), actions);
    }

    private MultiAcquireState over() {
        return new MultiAcquireState(count, waits, 0, 0, false, true, null);
    }

    private Step none() {
        return new Step(this, List.of());
    }

    private static long all(int count) {
        return count == MOST ? -1 : bit(count) - 1;
    }

    private static long bit(int member) {
        return 1L << member;
    }
}
