package io.holdfast.spi;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/**
 * The time limits of all requests of one back end, on one task of its timer. A task for each request would wake the timer's thread for each of
 * them, though nearly all are answered long before.
 *
 * <p>The task is left as it is when its deadline is taken off: it finds what is due then, and sets the next. A timer that was disposed lets all
 * deadlines pass at once. Thread-safe.
 */
public final class Deadlines {

    private static final Logger LOG = LoggerFactory.getLogger(Deadlines.class);

    /** What is to happen once at a time, unless it is taken off before. */
    public abstract static class Deadline extends DeadlineHeap.Deadline {

        /** A deadline that is not set. */
        protected Deadline() {}

        /** Called when it is due, on the timer's thread and without a lock. What it throws is logged. */
        protected abstract void passed();
    }

    private final Scheduler timer;

    // All below: guarded by this.
    private final DeadlineHeap<Deadline> heap = new DeadlineHeap<>();
    private boolean isWaking;
    private long wakeNanos;

    /**
     * Without deadlines.
     *
     * @param timer runs the task, and is the clock
     */
    public Deadlines(Scheduler timer) {
        this.timer = timer;
    }

    /**
     * Sets it, anew if it is set already.
     *
     * @param deadline of these, or of none
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
            passAll(); // its task was dropped
        } else if (isToWake) {
            wakeAt(dueNanos);
        }
    }

    /**
     * Takes it off, if it is set.
     *
     * @param deadline of these, or of none
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
            LOG.error("a time limit could not be handled", defect); // the others must pass all the same
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
