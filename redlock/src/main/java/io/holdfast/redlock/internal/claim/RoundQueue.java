package io.holdfast.redlock.internal.claim;

import java.util.ArrayDeque;
import java.util.Queue;

/** One round of a claim after the other: two at once could undo each other's votes. Thread-safe. */
final class RoundQueue {

    // Both: guarded by this.
    private final Queue<Runnable> next = new ArrayDeque<>(1);
    private boolean isBusy;

    /** Runs it now, or when the rounds before are over. */
    void enter(Runnable round) {
        synchronized (this) {
            if (isBusy) {
                next.add(round);
                return;
            }
            isBusy = true;
        }
        round.run();
    }

    /** The round is over. */
    void exit() {
        Runnable following;
        synchronized (this) {
            following = next.poll();
            isBusy = following != null;
        }
        if (following != null) {
            following.run();
        }
    }
}
