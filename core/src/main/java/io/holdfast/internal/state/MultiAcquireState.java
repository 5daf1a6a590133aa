package io.holdfast.internal.state;

import io.holdfast.internal.state.MultiAcquireAction.Deliver;
import io.holdfast.internal.state.MultiAcquireAction.Fail;
import io.holdfast.internal.state.MultiAcquireAction.FailLost;
import io.holdfast.internal.state.MultiAcquireAction.FailTimedOut;
import io.holdfast.internal.state.MultiAcquireAction.NotAvailable;
import io.holdfast.internal.state.MultiAcquireAction.Release;
import io.holdfast.internal.state.MultiAcquireAction.TryEach;
import io.holdfast.internal.state.MultiAcquireAction.WaitFor;
import io.holdfast.internal.state.MultiAcquireAction.Withdraw;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of one acquisition of many locks: all of them, or none.
 *
 * <p>Waiting for one lock while others are held leads to a deadlock unless all clients wait in one order. So it waits only for the first
 * lock, in the canonical order, that it does not hold, and holds only locks before that one meanwhile. Trying is free of that rule, because
 * nothing waits: all that are missing are tried at one time, first, and again when the one that was waited for is had. What a try
 * took behind the first missing one is released at once.
 *
 * @param count how many, at most 64
 * @param waits whether it waits for those that are not available
 * @param held bits of those that it has
 * @param asked bits of those whose try or wait is under way
 * @param isWaiting whether the one that is asked for is waited for
 * @param isOver whether it has delivered, failed or left
 * @param failure the first failure of the tries; null for none, and for one that waits, where the wait meets it again
 */
public record MultiAcquireState(
        int count,
        boolean waits,
        long held,
        long asked,
        boolean isWaiting,
        boolean isOver,
        @Nullable Throwable failure) {

    /** As many as a set has bits. */
    public static final int MOST = Long.SIZE;

    /**
     * A decision.
     *
     * @param state what follows
     * @param actions what to do, in this order
     */
    public record Step(MultiAcquireState state, List<MultiAcquireAction> actions) {}

    /**
     * Begins with a try of all.
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
     * One was granted.
     *
     * @param member which
     * @return what follows
     */
    public Step granted(int member) {
        if (isOver) {
            return new Step(this, List.of(new Release(bit(member)))); // it raced the end
        }
        return answered(member, held | bit(member), failure);
    }

    /**
     * One is not available.
     *
     * @param member which
     * @return what follows
     */
    public Step refused(int member) {
        return isOver ? none() : answered(member, held, failure);
    }

    /**
     * Trying or waiting for one has failed.
     *
     * @param member which
     * @param error why
     * @return what follows
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
     * One that was held is lost.
     *
     * @param member which
     * @return what follows
     */
    public Step lost(int member) {
        boolean isHeld = (held & bit(member)) != 0; // else it was released before it was lost
        return isHeld ? end(held & ~bit(member), asked, new FailLost(member)) : none();
    }

    /**
     * The time is over. A wait for one has the rest of that time as its own limit, and ends by itself.
     *
     * @return what follows
     */
    public Step timedOut() {
        return isOver || isWaiting ? none() : end(held, asked, new FailTimedOut(Long.numberOfTrailingZeros(asked)));
    }

    /**
     * The subscriber has left.
     *
     * @return what follows
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
