package io.holdfast.spi.support;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines sorted by time, for a client or a back end that puts all its time limits on one task of a timer. A binary
 * heap in which each deadline knows its place. Nearly every deadline is removed before it is due. That costs O(log n)
 * and leaves nothing behind.
 *
 * <p>Times are nanoseconds of any monotonic clock. Not thread-safe: the caller guards it, and each deadline is in one
 * heap at most.
 *
 * @param <D> the type of the deadlines
 */
public final class DeadlineHeap<D extends DeadlineHeap.Deadline> {

    /** A deadline that is due once, unless it is removed or set again before. */
    public abstract static class Deadline {

        private static final int OFF = -1;

        // The heap writes both fields.
        private int place = OFF;
        private long dueNanos;

        /** Makes a deadline that is not set. */
        protected Deadline() {}
    }

    private final List<D> heap = new ArrayList<>();

    /** Makes a heap without deadlines. */
    public DeadlineHeap() {}

    /** {@return how many deadlines are set} */
    public int size() {
        return heap.size();
    }

    /**
     * Returns when the first deadline is due.
     *
     * @return the earliest time, in nanoseconds
     * @throws IndexOutOfBoundsException if no deadline is set
     */
    public long firstDueNanos() {
        return due(0);
    }

    /**
     * Sets a deadline, or changes its time.
     *
     * @param deadline a deadline that is in no other heap
     * @param dueNanos the time when it is due
     */
    public void set(D deadline, long dueNanos) {
        Deadline entry = deadline;
        if (entry.place == Deadline.OFF) {
            heap.add(deadline);
            entry.place = heap.size() - 1;
        }
        entry.dueNanos = dueNanos;
        siftDown(deadline, siftUp(deadline, entry.place));
    }

    /**
     * Removes a deadline, if it is set.
     *
     * @param deadline a deadline of this heap, or of none
     */
    public void takeOff(D deadline) {
        Deadline entry = deadline;
        int place = entry.place;
        if (place == Deadline.OFF) {
            return;
        }
        entry.place = Deadline.OFF;
        D last = heap.remove(heap.size() - 1);
        if (last != deadline) {
            siftDown(last, siftUp(last, place));
        }
    }

    /**
     * Removes and returns the first deadline that is due.
     *
     * @param nowNanos the current time
     * @return null when none is due
     */
    public @Nullable D takeDue(long nowNanos) {
        if (heap.isEmpty() || due(0) - nowNanos > 0) {
            return null;
        }
        D first = heap.get(0);
        takeOff(first);
        return first;
    }

    /**
     * Removes and returns any deadline.
     *
     * @return null when none is set
     */
    public @Nullable D takeAny() {
        if (heap.isEmpty()) {
            return null;
        }
        D last = heap.get(heap.size() - 1);
        takeOff(last);
        return last;
    }

    private int siftUp(D deadline, int from) {
        long dueNanos = dueNanos(deadline);
        int place = from;
        while (place > 0 && dueNanos - due((place - 1) / 2) < 0) {
            put(heap.get((place - 1) / 2), place);
            place = (place - 1) / 2;
        }
        put(deadline, place);
        return place;
    }

    private void siftDown(D deadline, int from) {
        long dueNanos = dueNanos(deadline);
        int place = from;
        for (int child = 2 * place + 1; child < heap.size(); child = 2 * place + 1) {
            if (child + 1 < heap.size() && due(child + 1) - due(child) < 0) {
                child++;
            }
            if (due(child) - dueNanos >= 0) {
                break;
            }
            put(heap.get(child), place);
            place = child;
        }
        put(deadline, place);
    }

    private void put(D deadline, int place) {
        heap.set(place, deadline);
        Deadline entry = deadline;
        entry.place = place;
    }

    private long due(int place) {
        return dueNanos(heap.get(place));
    }

    private static long dueNanos(Deadline deadline) {
        return deadline.dueNanos;
    }
}
