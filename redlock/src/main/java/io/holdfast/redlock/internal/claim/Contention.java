package io.holdfast.redlock.internal.claim;

/**
 * Counts how many rounds of one claim in a row failed because other claims tried at the same time. The count widens the
 * pause before the next round. Not thread-safe: the state of the claim guards it.
 */
final class Contention {

    /** A window of 64 rounds: wide enough for as many contenders. */
    private static final int HIGHEST = 6;

    private int level;
    private boolean isSignalled;
    private long roundNanos;

    /** A signal makes the claim send attempts: other claims got it too. */
    void signalled() {
        isSignalled = true;
    }

    /** A round was lost. It counts if the votes were split, or if a signal had caused it. */
    void lost(boolean wasSplit, long tookNanos) {
        level = wasSplit || isSignalled ? Math.min(HIGHEST, level + 1) : Math.max(0, level - 1);
        isSignalled = false;
        roundNanos = tookNanos;
    }

    void won() {
        level = 0;
    }

    int level() {
        return level;
    }

    /** Returns how long the last lost round took. */
    long roundNanos() {
        return roundNanos;
    }
}
