package io.holdfast.internal.claim;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockEvent;
import io.holdfast.internal.engine.Events;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/** Pairs the event of a beginning with exactly one event of its end, in this order, on whichever threads they come. */
final class PairedEvents {

    private static final Object NOT_BEGUN = new Object();
    private static final Object BEGUN = new Object();

    private static final AtomicReferenceFieldUpdater<PairedEvents, Object> STAGE =
            AtomicReferenceFieldUpdater.newUpdater(PairedEvents.class, Object.class, "stage");

    private final Events events;

    /** NOT_BEGUN, then BEGUN, then the end event. An end that comes first is reported after the beginning. */
    private volatile Object stage = NOT_BEGUN;

    PairedEvents(Events events) {
        this.events = events;
    }

    void begun() {
        if (!STAGE.compareAndSet(this, NOT_BEGUN, BEGUN) && stage instanceof LockEvent end) {
            events.report(end);
        }
    }

    /** Returns false when it does not report the end: an end was reported before, or nothing has begun so far. */
    @CanIgnoreReturnValue
    boolean ended(LockEvent end) {
        Object seen = stage;
        while (!(seen instanceof LockEvent)) {
            if (STAGE.compareAndSet(this, seen, end)) {
                if (seen == BEGUN) {
                    events.report(end);
                }
                return seen == BEGUN;
            }
            seen = stage;
        }
        return false;
    }
}
