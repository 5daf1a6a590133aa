package io.holdfast.zookeeper;

import java.time.Duration;
import java.util.List;

/** A part of the back end that has one thing wrong. */
public enum WrongPart {
    /** All is right. */
    NONE,

    /** The last number is believed after the server has deleted the queue, and another client has made it again. */
    NUMBERS_OF_A_FORMER_QUEUE,

    /** A node of the own session is passed over although its claim goes on. */
    PASSED_HOLDER,

    /** What the newest transaction has proved counts from the hand-over, however old the transaction is. */
    PROOF_THAT_DOES_NOT_AGE;

    Parts parts() {
        return switch (this) {
            case NONE -> Parts.REAL;
            case NUMBERS_OF_A_FORMER_QUEUE -> new Parts(NeverBeginsAgain::new, SessionProof::new);
            case PASSED_HOLDER -> new Parts(PassesHolders::new, SessionProof::new);
            case PROOF_THAT_DOES_NOT_AGE -> new Parts(LockQueue::new, DoesNotAge::new);
        };
    }

    private static final class NeverBeginsAgain extends LockQueue<Place> {

        private boolean isKnown;

        @Override
        List<Place> namesRead(int asked, int upTo, List<QueueNode> nodes) {
            isKnown = true;
            return super.namesRead(asked, upTo, nodes);
        }

        @Override
        boolean isContinuous() {
            return isKnown;
        }

        @Override
        boolean wantsGuard() {
            return false;
        }
    }

    private static final class PassesHolders extends LockQueue<Place> {

        @Override
        void holds(QueueNode node) {
            leaves(node);
        }
    }

    private static final class DoesNotAge extends SessionProof {

        private long askedNanos;

        DoesNotAge(long foundNanos, int timeoutMillis) {
            super(foundNanos, timeoutMillis);
            askedNanos = foundNanos;
        }

        @Override
        boolean suffices(long nowNanos) {
            askedNanos = nowNanos;
            return super.suffices(nowNanos);
        }

        @Override
        void agreed(long requestSentNanos, long nowNanos) {
            askedNanos = requestSentNanos;
            super.agreed(requestSentNanos, nowNanos);
        }

        @Override
        Duration validFrom(long nanos) {
            return lease().plusNanos(askedNanos - nanos);
        }
    }
}
