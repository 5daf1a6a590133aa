package io.holdfast.internal.tenure;

/**
 * The numbers of a claim's attempts, and when it sent the last of them: a pushed grant names one of them. A grant that
 * names an earlier one costs one more attempt. Not thread-safe.
 */
final class AttemptTimes {

    private static final int KNOWN = 16;

    private static final long[] NONE = {};

    private long[] times = NONE;
    private int last;

    /** Returns the number of the last attempt; 0 for none. */
    int last() {
        return last;
    }

    /** Returns the number of the attempt that is sent now. */
    int next(long nowNanos) {
        times = last == 0 ? new long[KNOWN] : times;
        last++;
        times[last % KNOWN] = nowNanos;
        return last;
    }

    boolean knows(int attempt) {
        return attempt > 0 && attempt <= last && attempt > last - KNOWN;
    }

    long sentAt(int attempt) {
        return times[attempt % KNOWN];
    }
}
