package io.holdfast.zookeeper.internal.queue;

import java.util.List;

/** Queues with one mistake. They are in the package of {@link LockQueue}, which only that package can extend. */
public final class WrongQueues {

    private WrongQueues() {}

    /** Believes the last number after the server has deleted the queue. */
    public static <C> LockQueue<C> thatNeverBeginAgain() {
        return new NeverBeginsAgain<>();
    }

    /** Treats a holder as if it had left. */
    public static <C> LockQueue<C> thatPassHolders() {
        return new PassesHolders<>();
    }

    private static final class NeverBeginsAgain<C> extends LockQueue<C> {

        private boolean isKnown;

        @Override
        public List<C> namesRead(int asked, int upTo, List<QueueNode> nodes) {
            isKnown = true;
            return super.namesRead(asked, upTo, nodes);
        }

        @Override
        public boolean isContinuous() {
            return isKnown;
        }

        @Override
        public boolean wantsGuard() {
            return false;
        }
    }

    private static final class PassesHolders<C> extends LockQueue<C> {

        @Override
        public void holds(QueueNode node) {
            leaves(node);
        }
    }
}
