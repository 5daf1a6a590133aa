package io.holdfast.zookeeper;

import io.holdfast.zookeeper.internal.operation.ReplaceableParts;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.WrongQueues;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import io.holdfast.zookeeper.internal.session.WrongValidity;

/** A part of the back end with one mistake. */
public enum WrongPart {
    /** No mistake. */
    NONE,

    /** Believes the last number after the server has deleted the queue, and another client has made it again. */
    NUMBERS_OF_A_FORMER_QUEUE,

    /** Passes over a node of its own session although its claim still holds. */
    PASSED_HOLDER,

    /** Counts the validity of the newest transaction from the hand-over, whatever the age of the transaction. */
    PROOF_THAT_DOES_NOT_AGE,

    /** Reads nodes behind a {@code sync}, without a transaction that needs a majority. */
    PROOF_WITHOUT_A_MAJORITY;

    ReplaceableParts parts() {
        return switch (this) {
            case NONE, PROOF_WITHOUT_A_MAJORITY -> ReplaceableParts.REAL;
            case NUMBERS_OF_A_FORMER_QUEUE ->
                new ReplaceableParts(WrongQueues::thatNeverBeginAgain, SessionValidity::found);
            case PASSED_HOLDER -> new ReplaceableParts(WrongQueues::thatPassHolders, SessionValidity::found);
            case PROOF_THAT_DOES_NOT_AGE -> new ReplaceableParts(LockQueue::create, WrongValidity::new);
        };
    }
}
