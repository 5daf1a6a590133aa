package io.holdfast.zookeeper;

import io.holdfast.zookeeper.internal.operation.ReplaceableParts;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.WrongQueues;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import io.holdfast.zookeeper.internal.session.WrongValidity;

/** A part of the back end that has one thing wrong. */
public enum WrongPart {
    /** All is right. */
    NONE,

    /** The last number is believed after the server has deleted the queue, and another client has made it again. */
    NUMBERS_OF_A_FORMER_QUEUE,

    /** A node of the own session is passed over although its claim goes on. */
    PASSED_HOLDER,

    /** What the newest transaction has proved counts from the hand-over, however old the transaction is. */
    PROOF_THAT_DOES_NOT_AGE,

    /** Nodes are looked at behind a {@code sync}, and no transaction asks a majority. */
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
