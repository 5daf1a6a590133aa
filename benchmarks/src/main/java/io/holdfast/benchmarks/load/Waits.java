package io.holdfast.benchmarks.load;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;

/** The longest cycle of a process, and the longest time in which none of its cycles ended. Thread-safe. */
public final class Waits {

    private final LongAccumulator longestCycle = new LongAccumulator(Math::max, 0);
    private final LongAccumulator longestPause = new LongAccumulator(Math::max, 0);
    private final AtomicLong lastEnd = new AtomicLong(System.nanoTime());

    /**
     * What took longest.
     *
     * @param cycleNanos of one cycle
     * @param pauseNanos between the ends of two cycles that follow each other
     */
    public record Longest(long cycleNanos, long pauseNanos) {}

    /** Lanes start: the time before does not count. */
    void restart() {
        lastEnd.set(System.nanoTime());
    }

    void cycleEnded(long begunNanos) {
        long now = System.nanoTime();
        longestCycle.accumulate(now - begunNanos);
        longestPause.accumulate(now - lastEnd.getAndSet(now));
    }

    /** Since the last call. */
    Longest take() {
        return new Longest(longestCycle.getThenReset(), longestPause.getThenReset());
    }
}
