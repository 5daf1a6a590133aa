package io.holdfast.proof.sim;

import java.util.Arrays;

/**
 * The planned steps in the order of time. Steps of the same time keep the order in which they were planned. A heap over arrays, so that the thousands of
 * steps of a schedule make no objects.
 */
final class Steps {

    private static final int FIRST_SIZE = 256;

    private long[] times = new long[FIRST_SIZE];
    private long[] numbers = new long[FIRST_SIZE];
    private Runnable[] tasks = new Runnable[FIRST_SIZE];
    private int size;
    private long planned;

    void add(long time, Runnable task) {
        if (size == tasks.length) {
            times = Arrays.copyOf(times, 2 * size);
            numbers = Arrays.copyOf(numbers, 2 * size);
            tasks = Arrays.copyOf(tasks, 2 * size);
        }
        // It has the highest number, so it goes behind all steps of its time.
        int at = size++;
        while (at > 0) {
            int above = (at - 1) >>> 1;
            if (times[above] <= time) {
                break;
            }
            move(above, at);
            at = above;
        }
        put(at, time, planned++, task);
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Returns the time of the next step; there must be one. */
    long nextTime() {
        return times[0];
    }

    /** Removes the next step; there must be one. */
    Runnable poll() {
        Runnable next = tasks[0];
        size--;
        long time = times[size];
        long number = numbers[size];
        Runnable task = tasks[size];
        tasks[size] = null;
        if (size > 0) {
            sink(time, number, task);
        }
        return next;
    }

    private void sink(long time, long number, Runnable task) {
        int at = 0;
        for (int below = 1; below < size; below = 2 * at + 1) {
            int right = below + 1;
            int least = right < size && isBefore(times[right], numbers[right], below) ? right : below;
            if (isBefore(time, number, least)) {
                break;
            }
            move(least, at);
            at = least;
        }
        put(at, time, number, task);
    }

    private boolean isBefore(long time, long number, int other) {
        return time == times[other] ? number < numbers[other] : time < times[other];
    }

    private void move(int from, int to) {
        put(to, times[from], numbers[from], tasks[from]);
    }

    private void put(int at, long time, long number, Runnable task) {
        times[at] = time;
        numbers[at] = number;
        tasks[at] = task;
    }
}
