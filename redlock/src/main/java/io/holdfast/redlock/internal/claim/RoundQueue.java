package io.holdfast.redlock.internal.claim;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** One round of a claim after the other: two at once could undo each other's votes. Thread-safe. */
final class RoundQueue {

    // All: guarded by this.
    private final Queue<Runnable> next = new ArrayDeque<>(1);
    private boolean isBusy;

    /** Whether a thread begins rounds: one that is over at once then comes back to that thread, and not to a deeper stack. */
    private boolean isBeginning;

    /** Runs it now, or when the rounds before are over. */
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

    /** The round to run now. */
    private synchronized @Nullable Runnable first(boolean isOfThisThread) {
        if (isBeginning && !isOfThisThread) {
            return null; // the other one sees what has changed
        }
        Runnable round = isBusy ? null : next.poll();
        isBusy |= round != null;
        isBeginning = round != null;
        return round;
    }
}
