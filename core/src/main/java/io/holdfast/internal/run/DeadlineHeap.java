package io.holdfast.internal.run;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines sorted by time: a binary heap in which each deadline knows its place. Nearly every deadline is removed before
 * it is due. That costs O(log n) and leaves nothing behind. Not thread-safe.
 */
final class DeadlineHeap<D extends DeadlineHeap.Deadline> {

    abstract static class Deadline {

        private static final int OFF = -1;

        // The heap writes both fields.
        private int place = OFF;
        private long dueNanos;
    }

    private final List<D> heap = new ArrayList<>();

    /** {@return how many deadlines are set} */
    int size() {
        return heap.size();
    }

    long firstDueNanos() {
        return due(0);
    }

    /** Sets a deadline, or changes its time. */
    void set(D deadline, long dueNanos) {
        Deadline entry = deadline;
        if (entry.place == Deadline.OFF) {
            heap.add(deadline);
            entry.place = heap.size() - 1;
        }
        entry.dueNanos = dueNanos;
        siftDown(deadline, siftUp(deadline, entry.place));
    }

    void takeOff(D deadline) {
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

    @Nullable
    D takeDue(long nowNanos) {
        if (heap.isEmpty() || due(0) - nowNanos > 0) {
            return null;
        }
        D first = heap.get(0);
        takeOff(first);
        return first;
    }

    /** Removes any deadline. */
    @Nullable
    D takeAny() {
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
