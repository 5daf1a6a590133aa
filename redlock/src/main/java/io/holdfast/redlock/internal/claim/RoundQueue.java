package io.holdfast.redlock.internal.claim;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Runs one round of a claim after the other: two at once could undo each other's votes. Thread-safe. */
final class RoundQueue {

    // All: guarded by this.
    private final Queue<Runnable> next = new ArrayDeque<>(1);
    private boolean isBusy;

    /**
     * Whether a thread begins rounds. If a round ends at once, that thread begins the next one, without a deeper stack.
     */
    private boolean isBeginning;

    /** Runs the round now, or when the rounds before it are over. */
    void enter(Runnable round) {
        synchronized (this) {
            next.add(round);
        }
        begin();
    }

    /** The round is over. */
    void exit() {
        synchronized (this) {
            isBusy = false;
        }
        begin();
    }

    private void begin() {
        for (Runnable round = first(false); round != null; round = first(true)) {
            round.run();
        }
    }

    /** Returns the round to run now. */
    private synchronized @Nullable Runnable first(boolean isOfThisThread) {
        if (isBeginning && !isOfThisThread) {
            return null; // the other thread sees the change
        }
        Runnable round = isBusy ? null : next.poll();
        isBusy |= round != null;
        isBeginning = round != null;
        return round;
    }
}
