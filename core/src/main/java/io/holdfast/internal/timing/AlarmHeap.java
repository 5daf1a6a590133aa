package io.holdfast.internal.timing;

import io.holdfast.internal.timing.AlarmClock.Alarm;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A binary heap in which each alarm knows its place: nearly every alarm is taken off before it is due. */
final class AlarmHeap {

    static final int OFF = -1;

    private final List<Alarm> heap = new ArrayList<>();

    int size() {
        return heap.size();
    }

    long firstDueNanos() {
        return due(0);
    }

    void set(Alarm alarm, long dueNanos) {
        if (alarm.place == OFF) {
            heap.add(alarm);
            alarm.place = heap.size() - 1;
        }
        alarm.dueNanos = dueNanos;
        siftDown(alarm, siftUp(alarm, alarm.place));
    }

    void takeOff(Alarm alarm) {
        int place = alarm.place;
        if (place == OFF) {
            return;
        }
        alarm.place = OFF;
        Alarm last = heap.remove(heap.size() - 1);
        if (last != alarm) {
            siftDown(last, siftUp(last, place));
        }
    }

    @Nullable
    Alarm takeDue(long nowNanos) {
        if (heap.isEmpty() || due(0) - nowNanos > 0) {
            return null;
        }
        Alarm first = heap.get(0);
        takeOff(first);
        return first;
    }

    @Nullable
    Alarm takeAny() {
        if (heap.isEmpty()) {
            return null;
        }
        Alarm last = heap.get(heap.size() - 1);
        takeOff(last);
        return last;
    }

    private int siftUp(Alarm alarm, int from) {
        long dueNanos = alarm.dueNanos;
        int place = from;
        while (place > 0 && dueNanos - due((place - 1) / 2) < 0) {
            put(heap.get((place - 1) / 2), place);
            place = (place - 1) / 2;
        }
        put(alarm, place);
        return place;
    }

    private void siftDown(Alarm alarm, int from) {
        long dueNanos = alarm.dueNanos;
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
        put(alarm, place);
    }

    private void put(Alarm alarm, int place) {
        heap.set(place, alarm);
        alarm.place = place;
    }

    private long due(int place) {
        return heap.get(place).dueNanos;
    }
}
