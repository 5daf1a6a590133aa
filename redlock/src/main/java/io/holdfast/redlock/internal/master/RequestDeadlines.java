package io.holdfast.redlock.internal.master;

import java.util.ArrayList;
import java.util.List;
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
    abstract static class Deadline {

        private static final int OFF = -1;

        // Both: guarded by the deadlines that this was given to.
        private int place = OFF;
        private long dueNanos;

        /** Called without a lock. */
        abstract void passed();
    }

    private final Scheduler timer;

    // All below: guarded by this. The heap has the earliest deadline first.
    private final List<Deadline> heap = new ArrayList<>();
    private boolean isWaking;
    private long wakeNanos;

    RequestDeadlines(Scheduler timer) {
        this.timer = timer;
    }

    /** Sets it, anew if it is set already. */
    void set(Deadline deadline, long dueNanos) {
        synchronized (this) {
            remove(deadline);
            add(deadline, dueNanos);
            if (isWaking && wakeNanos - dueNanos <= 0) {
                return;
            }
            isWaking = true;
            wakeNanos = dueNanos;
        }
        wakeAt(dueNanos);
    }

    /** Takes it off, if it is set. */
    synchronized void off(Deadline deadline) {
        remove(deadline);
    }

    private void wakeAt(long dueNanos) {
        long delay = Math.max(0, dueNanos - timer.now(TimeUnit.NANOSECONDS));
        try {
            var unused = timer.schedule(() -> wake(dueNanos), delay, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException disposed) {
            List<Deadline> all;
            synchronized (this) {
                isWaking = false;
                all = List.copyOf(heap);
                all.forEach(this::remove);
            }
            all.forEach(RequestDeadlines::pass);
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
            if (heap.isEmpty() || (isWaking && wakeNanos - heap.get(0).dueNanos <= 0)) {
                return;
            }
            isWaking = true;
            next = heap.get(0).dueNanos;
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
        if (heap.isEmpty() || heap.get(0).dueNanos - nowNanos > 0) {
            return null;
        }
        Deadline due = heap.get(0);
        remove(due);
        return due;
    }

    private void add(Deadline deadline, long dueNanos) {
        deadline.dueNanos = dueNanos;
        heap.add(deadline);
        raise(deadline, heap.size() - 1);
    }

    private void remove(Deadline deadline) {
        int place = deadline.place;
        if (place == Deadline.OFF) {
            return;
        }
        deadline.place = Deadline.OFF;
        Deadline last = heap.remove(heap.size() - 1);
        if (last != deadline) {
            raise(last, place);
            lower(last, last.place);
        }
    }

    private void raise(Deadline deadline, int from) {
        int place = from;
        while (place > 0 && deadline.dueNanos - heap.get((place - 1) / 2).dueNanos < 0) {
            put(heap.get((place - 1) / 2), place);
            place = (place - 1) / 2;
        }
        put(deadline, place);
    }

    private void lower(Deadline deadline, int from) {
        int place = from;
        for (int child = earlierChild(place); child < heap.size(); child = earlierChild(place)) {
            if (heap.get(child).dueNanos - deadline.dueNanos >= 0) {
                break;
            }
            put(heap.get(child), place);
            place = child;
        }
        put(deadline, place);
    }

    private int earlierChild(int place) {
        int left = 2 * place + 1;
        boolean isRightEarlier = left + 1 < heap.size() && heap.get(left + 1).dueNanos - heap.get(left).dueNanos < 0;
        return isRightEarlier ? left + 1 : left;
    }

    private void put(Deadline deadline, int place) {
        heap.set(place, deadline);
        deadline.place = place;
    }
}
