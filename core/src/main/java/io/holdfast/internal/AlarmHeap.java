package io.holdfast.internal;

import io.holdfast.internal.AlarmClock.Alarm;
import io.holdfast.internal.state.Validity;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Alarms by their time: a binary heap in which each alarm knows its place, so that taking one off, which nearly every operation does, costs
 * O(log n) and leaves nothing behind. Not thread-safe: the clock's monitor guards it.
 */
final class AlarmHeap {

    private Alarm[] heap = new Alarm[16];
    private int size;

    int size() {
        return size;
    }

    /** When the first one is due; only if there is one. */
    long firstDueNanos() {
        return heap[0].dueNanos;
    }

    /** Puts it in, or changes its time. */
    void set(Alarm alarm, long dueNanos) {
        if (alarm.place == Alarm.OFF) {
            append(alarm);
        }
        alarm.dueNanos = dueNanos;
        siftDown(siftUp(alarm.place));
    }

    void takeOff(Alarm alarm) {
        if (alarm.place != Alarm.OFF) {
            remove(alarm);
        }
    }

    /** Takes off the first one that is due. */
    @Nullable
    Alarm takeDue(long nowNanos) {
        if (size == 0 || !Validity.isOver(heap[0].dueNanos, nowNanos)) {
            return null;
        }
        Alarm first = heap[0];
        remove(first);
        return first;
    }

    /** Takes off any. */
    @Nullable
    Alarm takeAny() {
        if (size == 0) {
            return null;
        }
        Alarm last = heap[size - 1];
        remove(last);
        return last;
    }

    private void append(Alarm alarm) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        put(alarm, size++);
    }

    @SuppressWarnings("NullAway") // a free place holds null, so that nothing taken off is kept alive
    private void remove(Alarm alarm) {
        int place = alarm.place;
        alarm.place = Alarm.OFF;
        Alarm last = heap[--size];
        heap[size] = null;
        if (last != alarm) {
            put(last, place);
            siftDown(siftUp(place));
        }
    }

    private int siftUp(int from) {
        Alarm alarm = heap[from];
        int place = from;
        while (place > 0 && alarm.dueNanos - heap[(place - 1) / 2].dueNanos < 0) {
            put(heap[(place - 1) / 2], place);
            place = (place - 1) / 2;
        }
        put(alarm, place);
        return place;
    }

    private void siftDown(int from) {
        Alarm alarm = heap[from];
        int place = from;
        for (int child = 2 * place + 1; child < size; child = 2 * place + 1) {
            if (child + 1 < size && heap[child + 1].dueNanos - heap[child].dueNanos < 0) {
                child++;
            }
            if (heap[child].dueNanos - alarm.dueNanos >= 0) {
                break;
            }
            put(heap[child], place);
            place = child;
        }
        put(alarm, place);
    }

    private void put(Alarm alarm, int place) {
        heap[place] = alarm;
        alarm.place = place;
    }
}
