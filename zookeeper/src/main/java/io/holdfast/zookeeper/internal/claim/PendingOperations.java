package io.holdfast.zookeeper.internal.claim;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** One claim's operations, one after the other, in the order in which they came. On the executor only. */
public final class PendingOperations {

    /** Begins when the operations before it have ended. It ends with {@link #ended}, once. */
    public interface Operation {

        void begin();
    }

    /** Most claims never have two operations at a time. */
    private @Nullable Deque<Operation> waiting;

    private boolean isBusy;

    /** Begins as soon as those before have ended. */
    public void run(Operation operation) {
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

    public void ended() {
        Operation next = waiting == null ? null : waiting.pollFirst();
        isBusy = next != null;
        if (next != null) {
            next.begin();
        }
    }

    boolean areOver() {
        return !isBusy;
    }
}
