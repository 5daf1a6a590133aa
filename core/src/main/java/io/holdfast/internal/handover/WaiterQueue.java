package io.holdfast.internal.handover;

import io.holdfast.internal.handover.Waiter.Standing;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one process that wait for one lock, in order of arrival. Used under the lock of its {@link HandOvers}.
 */
final class WaiterQueue {

    private @Nullable Waiter first;
    private @Nullable Waiter last;
    private int size;

    @Nullable
    Waiter first() {
        return first;
    }

    @Nullable
    Waiter last() {
        return last;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    void add(Waiter waiter) {
        waiter.turn = null;
        waiter.standing = Standing.WAITING;
        waiter.before = last;
        waiter.behind = null;
        if (last == null) {
            first = waiter;
        } else {
            last.behind = waiter;
        }
        last = waiter;
        size++;
    }

    void remove(Waiter waiter) {
        if (waiter.before == null) {
            first = waiter.behind;
        } else {
            waiter.before.behind = waiter.behind;
        }
        if (waiter.behind == null) {
            last = waiter.before;
        } else {
            waiter.behind.before = waiter.before;
        }
        waiter.before = null;
        waiter.behind = null;
        size--;
    }

    /**
     * Returns the first waiter that can receive a grant.
     *
     * @param caller the waiter that is calling; null for none
     * @param staleNanos a waiter whose last attempt is older is passed over, since its client may be dead
     */
    @Nullable
    Waiter promotable(@Nullable Waiter caller, long staleNanos, long now) {
        Waiter waiter = first;
        while (waiter != null
                && waiter != caller
                && (waiter.watch == null || now - waiter.attemptedAtNanos >= staleNanos)) {
            waiter = waiter.behind;
        }
        return waiter;
    }
}
