package io.holdfast.zookeeper.internal.claim;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** Runs the operations of one claim one after another, in the order of arrival. On the executor only. */
public final class PendingOperations {

    /** Begins when the operations before it have ended. It calls {@link #ended} once, at its end. */
    public interface Operation {

        void begin();
    }

    /** Null for most claims, which never have two operations at a time. */
    private @Nullable Deque<Operation> waiting;

    private boolean isBusy;

    /** Begins the operation as soon as those before it have ended. */
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
