package io.holdfast.internal.multi;

import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of one acquisition of many locks, in the order that {@link io.holdfast.ReactiveMultiLock} describes.
 * Sets of members are bits: the lowest is the first in the canonical order.
 *
 * @param isWaiting whether the member in {@code asked} is waited for
 * @param failure the first one; a try before a wait needs none, because the wait meets the failure again
 */
public record MultiAcquireState(
        int count,
        boolean waits,
        long held,
        long asked,
        boolean isWaiting,
        boolean isOver,
        @Nullable Throwable failure) {

    public static final int MOST = Long.SIZE;

    public enum Signal {
        NONE,
        LEASES,
        EMPTY,
        ERROR
    }

    /** In this order. All members of {@code ask} are tried at once, or one is waited for if the state is waiting. */
    public record Step(MultiAcquireState state, long withdraw, long release, long ask, Signal signal) {}

    public static MultiAcquireState of(int count, boolean waits) {
        return new MultiAcquireState(count, waits, 0, 0, false, false, null);
    }

    public Step start() {
        return ask(all(count), false, 0, 0);
    }

    public Step granted(int member) {
        if (isOver) {
            return new Step(this, 0, bit(member), 0, Signal.NONE); // The grant came after the end.
        }
        return answered(member, held | bit(member), failure);
    }

    public Step refused(int member) {
        return isOver ? none() : answered(member, held, failure);
    }

    public Step failed(int member, Throwable error) {
        if (isOver) {
            return none();
        }
        if (isWaiting) {
            return end(asked & ~bit(member), held, Signal.ERROR, error);
        }
        Throwable first = waits || failure != null ? failure : error;
        return answered(member, held, first);
    }

    public Step lost(int member, Throwable error) {
        boolean isHeld = (held & bit(member)) != 0; // otherwise it was released before the loss
        return isHeld ? end(asked, held & ~bit(member), Signal.ERROR, error) : none();
    }

    /** A wait for one member has the rest of the time as its own limit, and ends by itself. */
    public Step timedOut(IntFunction<? extends Throwable> error) {
        return isOver || isWaiting
                ? none()
                : end(asked, held, Signal.ERROR, error.apply(Long.numberOfTrailingZeros(asked)));
    }

    public Step left() {
        return isOver ? none() : end(asked, held, Signal.NONE, null);
    }

    private Step answered(int member, long heldNow, @Nullable Throwable failureNow) {
        long stillAsked = asked & ~bit(member);
        long missing = all(count) & ~heldNow;
        if (stillAsked != 0) {
            return new MultiAcquireState(count, waits, heldNow, stillAsked, false, false, failureNow).none();
        } else if (missing == 0) {
            return end(0, 0, Signal.LEASES, null);
        } else if (isWaiting) {
            return ask(missing, false, heldNow, 0);
        } else if (failureNow != null) {
            return end(0, heldNow, Signal.ERROR, failureNow);
        } else if (!waits) {
            return end(0, heldNow, Signal.EMPTY, null);
        }
        long first = Long.lowestOneBit(missing);
        long kept = heldNow & (first - 1);
        return ask(first, true, kept, heldNow & ~kept);
    }

    private Step ask(long members, boolean isWait, long kept, long release) {
        MultiAcquireState next = new MultiAcquireState(count, waits, kept, members, isWait, false, null);
        return new Step(next, 0, release, members, Signal.NONE);
    }

    private Step end(long withdraw, long release, Signal signal, @Nullable Throwable error) {
        MultiAcquireState over = new MultiAcquireState(count, waits, 0, 0, false, true, error);
        return new Step(over, withdraw, release, 0, signal);
    }

    private Step none() {
        return new Step(this, 0, 0, 0, Signal.NONE);
    }

    private static long all(int count) {
        return count == MOST ? -1 : bit(count) - 1;
    }

    private static long bit(int member) {
        return 1L << member;
    }
}
