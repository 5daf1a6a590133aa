package io.holdfast.redlock.internal.claim;

/**
 * How many rounds of one claim in a row were in vain because other claims tried at the same time. It widens the pause before the next round. Not
 * thread-safe: the state of the claim guards it.
 */
final class Contention {

    /** A window of 64 rounds: wide enough for as many contenders. */
    private static final int HIGHEST = 6;

    private int level;
    private boolean isSignalled;
    private long roundNanos;

    /** A signal makes the claim ask: other claims heard it too. */
    void signalled() {
        isSignalled = true;
    }

    /** A round was lost: in vain, when the votes were split, or when a signal had asked for it. */
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

    /** How long the last round took that was lost. */
    long roundNanos() {
        return roundNanos;
    }
}
