package io.holdfast.redlock.internal.claim;

import io.holdfast.spi.support.Mailbox;
import java.util.ArrayDeque;
import java.util.Queue;

/** Runs one round of a claim after the other: two at once could undo each other's votes. For events of the mailbox. */
final class RoundQueue {

    private final Mailbox mailbox;
    private final Queue<Runnable> next = new ArrayDeque<>(1);
    private boolean isBusy;

    RoundQueue(Mailbox mailbox) {
        this.mailbox = mailbox;
    }

    /** Runs the round soon, or when the rounds before it are over. */
    void enter(Runnable round) {
        next.add(round);
        begin();
    }

    /** The round is over. */
    void exit() {
        isBusy = false;
        begin();
    }

    private void begin() {
        if (!isBusy && !next.isEmpty()) {
            isBusy = true;
            mailbox.post(next.remove());
        }
    }
}
