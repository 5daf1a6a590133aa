package io.holdfast.benchmarks.load;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;

/** The longest cycle of a process, and the longest time in which none of its cycles ended. Thread-safe. */
public final class Waits {

    private final LongAccumulator longestCycle = new LongAccumulator(Math::max, 0);
    private final LongAccumulator longestPause = new LongAccumulator(Math::max, 0);
    private final AtomicLong lastEnd = new AtomicLong(System.nanoTime());

    /**
     * The longest times.
     *
     * @param cycleNanos the longest cycle
     * @param pauseNanos the longest time between the ends of two successive cycles
     */
    public record Longest(long cycleNanos, long pauseNanos) {}

    /** The lanes start: the time before does not count. */
    void restart() {
        lastEnd.set(System.nanoTime());
    }

    void cycleEnded(long begunNanos) {
        long now = System.nanoTime();
        longestCycle.accumulate(now - begunNanos);
        longestPause.accumulate(now - lastEnd.getAndSet(now));
    }

    /** Returns the longest times since the last call. */
    Longest take() {
        return new Longest(longestCycle.getThenReset(), longestPause.getThenReset());
    }
}
