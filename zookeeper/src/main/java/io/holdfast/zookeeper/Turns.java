package io.holdfast.zookeeper;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** One claim's operations, one after the other, in the order in which they came. On the strand only. */
final class Turns {

    /** An operation that has come to its turn. It ends with {@link #ended}, once. */
    interface Turn {

        void begin();
    }

    /** Most claims never have two operations at a time. */
    private @Nullable Deque<Turn> waiting;

    private boolean isBusy;

    /** Begins as soon as those before have ended. */
    void take(Turn operation) {
        if (isBusy) {
            if (waiting == null) {
                waiting = new ArrayDeque<>();
            }
            waiting.addLast(operation);
        } else {
            isBusy = true;
            operation.begin();
        }
    }

    void ended() {
        Turn next = waiting == null ? null : waiting.pollFirst();
        isBusy = next != null;
        if (next != null) {
            next.begin();
        }
    }

    boolean areOver() {
        return !isBusy;
    }
}
