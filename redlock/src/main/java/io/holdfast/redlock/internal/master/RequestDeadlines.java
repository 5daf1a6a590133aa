package io.holdfast.redlock.internal.master;

import io.holdfast.spi.DeadlineHeap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/**
 * The time limits of all requests of one back end, on one task of its timer. A task for each request would wake the timer's thread for each of
 * them, though nearly all are answered long before.
 *
 * <p>The task is left as it is when its deadline is taken off: it finds what is due then, and sets the next. A timer that was disposed lets all
 * deadlines pass at once.
 */
public final class RequestDeadlines {

    /** What is to happen once at a time, unless it is taken off before. */
    abstract static class Deadline extends DeadlineHeap.Deadline {

        /** Called without a lock. */
        abstract void passed();
    }

    private final Scheduler timer;

    // All below: guarded by this.
    private final DeadlineHeap<Deadline> heap = new DeadlineHeap<>();
    private boolean isWaking;
    private long wakeNanos;

    RequestDeadlines(Scheduler timer) {
        this.timer = timer;
    }

    /** Sets it, anew if it is set already. */
    void set(Deadline deadline, long dueNanos) {
        boolean isToWake;
        synchronized (this) {
            heap.set(deadline, dueNanos);
            isToWake = !isWaking || wakeNanos - dueNanos > 0;
            if (isToWake) {
                isWaking = true;
                wakeNanos = dueNanos;
            }
        }
        if (timer.isDisposed()) {
            passAll(); // its task was dropped
        } else if (isToWake) {
            wakeAt(dueNanos);
        }
    }

    /** Takes it off, if it is set. */
    synchronized void off(Deadline deadline) {
        heap.takeOff(deadline);
    }

    private void wakeAt(long dueNanos) {
        long delay = Math.max(0, dueNanos - timer.now(TimeUnit.NANOSECONDS));
        try {
            var unused = timer.schedule(() -> wake(dueNanos), delay, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException disposed) {
            passAll();
        }
    }

    private void wake(long plannedNanos) {
        synchronized (this) {
            if (!isWaking || wakeNanos != plannedNanos) {
                return; // an earlier one has taken its place
            }
            isWaking = false;
        }
        long now = timer.now(TimeUnit.NANOSECONDS);
        for (Deadline due = takeDue(now); due != null; due = takeDue(now)) {
            pass(due);
        }
        long next;
        synchronized (this) {
            if (heap.size() == 0 || (isWaking && wakeNanos - heap.firstDueNanos() <= 0)) {
                return;
            }
            isWaking = true;
            next = heap.firstDueNanos();
            wakeNanos = next;
        }
        wakeAt(next);
    }

    private static void pass(Deadline deadline) {
        try {
            deadline.passed();
        } catch (Throwable defect) {
            Exceptions.throwIfJvmFatal(defect);
            Masters.LOG.error("a time limit could not be handled", defect); // the others must pass all the same
        }
    }

    private synchronized @Nullable Deadline takeDue(long nowNanos) {
        return heap.takeDue(nowNanos);
    }

    private void passAll() {
        synchronized (this) {
            isWaking = false;
        }
        for (Deadline any = takeAny(); any != null; any = takeAny()) {
            pass(any);
        }
    }

    private synchronized @Nullable Deadline takeAny() {
        return heap.takeAny();
    }
}
