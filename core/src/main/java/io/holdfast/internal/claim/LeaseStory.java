package io.holdfast.internal.claim;

import io.holdfast.LockEvent;
import io.holdfast.internal.engine.Events;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * Pairs each Acquired event of a lease with exactly one end event, in this order. A lease that its
 * acquisition has not emitted has no events: the acquisition has its own end event.
 */
final class LeaseStory {

    private static final Object NOT_BEGUN = new Object();
    private static final Object BEGUN = new Object();

    private static final AtomicReferenceFieldUpdater<LeaseStory, Object> CHAPTER =
            AtomicReferenceFieldUpdater.newUpdater(LeaseStory.class, Object.class, "chapter");

    /** NOT_BEGUN, then BEGUN, then the end event. An end may come first; it is reported after the beginning. */
    private volatile Object chapter = NOT_BEGUN;

    /** Called when the beginning was reported. */
    void begun(Events events) {
        if (!CHAPTER.compareAndSet(this, NOT_BEGUN, BEGUN) && chapter instanceof LockEvent end) {
            events.report(end); // the loss on another thread came first
        }
    }

    /**
     * Returns false when it does not report the end: an end was reported before, or the acquisition has not emitted the lease so
     * far.
     */
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
