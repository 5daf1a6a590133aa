package io.holdfast.internal;

import io.holdfast.LockEvent;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * Pairs each Acquired event of a lease with exactly one end event, in this order. A lease that was never handed out has no events: it
 * belongs to its acquisition, which has an end of its own.
 */
final class LeaseStory {

    private static final Object UNTOLD = new Object();
    private static final Object BEGUN = new Object();

    private static final AtomicReferenceFieldUpdater<LeaseStory, Object> CHAPTER =
            AtomicReferenceFieldUpdater.newUpdater(LeaseStory.class, Object.class, "chapter");

    /** UNTOLD, then BEGUN, then the event that ended it; an end may come first and is told after the beginning. */
    private volatile Object chapter = UNTOLD;

    /** The lease was told to be handed out. */
    void begun(Events events) {
        if (!CHAPTER.compareAndSet(this, UNTOLD, BEGUN) && chapter instanceof LockEvent end) {
            events.report(end); // a loss on another thread was faster
        }
    }

    /** False when it is not told: the end was told before, or nobody has the lease, for the time being at least. */
    boolean ended(LockEvent end, Events events) {
        Object seen = chapter;
        while (!(seen instanceof LockEvent)) {
            if (CHAPTER.compareAndSet(this, seen, end)) {
                if (seen == BEGUN) {
                    events.report(end);
                }
                return seen == BEGUN;
            }
            seen = chapter;
        }
        return false;
    }
}
