package io.holdfast.proof.soak;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the events since the last sample, on the threads of the client process. Its memory does not grow. */
final class Tally {

    private static final int MOST_TIMES = 1 << 16;

    private final AtomicLong cycles = new AtomicLong();
    private final AtomicLong errors = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();

    // Both guarded by times. Times beyond the array are not counted.
    private final long[] times = new long[MOST_TIMES];
    private int timeCount;

    /**
     * The times of an interval.
     *
     * @param median in milliseconds
     * @param high 99 of 100 were shorter, in milliseconds
     */
    record Times(double median, double high) {}

    void cycle() {
        cycles.incrementAndGet();
    }

    void error() {
        errors.incrementAndGet();
    }

    void lost() {
        lost.incrementAndGet();
    }

    void acquired(long nanos) {
        synchronized (times) {
            if (timeCount < MOST_TIMES) {
                times[timeCount++] = nanos;
            }
        }
    }

    long takeCycles() {
        return cycles.getAndSet(0);
    }

    long takeErrors() {
        return errors.getAndSet(0);
    }

    long takeLost() {
        return lost.getAndSet(0);
    }

    Times takeTimes() {
        synchronized (times) {
            if (timeCount == 0) {
                return new Times(0, 0);
            }
            Arrays.sort(times, 0, timeCount);
            Times taken = new Times(millis(times[timeCount / 2]), millis(times[timeCount * 99 / 100]));
            timeCount = 0;
            return taken;
        }
    }

    private static double millis(long nanos) {
        return nanos / 1e6;
    }
}
