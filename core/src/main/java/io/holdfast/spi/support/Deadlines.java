package io.holdfast.spi.support;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;

/**
 * The time limits of all requests of one back end, on one task of its timer. A task for each request would wake the
 * timer's thread for each request, though nearly all are answered long before.
 *
 * <p>When a deadline is removed, the task stays: it handles the deadlines that are due when it runs, and schedules the
 * next task. If the timer is disposed, all deadlines pass at once. Thread-safe.
 */
public final class Deadlines {

    private static final Logger LOG = LoggerFactory.getLogger(Deadlines.class);

    /** An action at a time, unless the deadline is removed before. */
    public abstract static class Deadline extends DeadlineHeap.Deadline {

        /** Makes a deadline that is not set. */
        protected Deadline() {}

        /** Called when the deadline is due, on the timer's thread and without a monitor. An exception is logged. */
        protected abstract void passed();
    }

    private final Scheduler timer;

    // The fields below are guarded by this.
    private final DeadlineHeap<Deadline> heap = new DeadlineHeap<>();
    private boolean isWaking;
    private long wakeNanos;

    /**
     * Makes an empty set of deadlines.
     *
     * @param timer runs the task, and is the clock
     */
    public Deadlines(Scheduler timer) {
        this.timer = timer;
    }

    /**
     * Sets a deadline, or changes its time.
     *
     * @param deadline a deadline of this object, or of none
     * @param dueNanos when it is due, by the timer's clock
     */
    public void set(Deadline deadline, long dueNanos) {
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
            passAll(); // A disposed timer drops its task.
        } else if (isToWake) {
            wakeAt(dueNanos);
        }
    }

    /**
     * Removes a deadline, if it is set.
     *
     * @param deadline a deadline of this object, or of none
     */
    public synchronized void off(Deadline deadline) {
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
                return; // An earlier task replaces this one.
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
            LOG.error("a time limit could not be handled", defect); // The other deadlines must pass all the same.
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
