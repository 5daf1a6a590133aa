package io.holdfast.zookeeper;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/** One claim's operations, one after the other, in the order in which they came. On the strand only. */
final class Turns {

    private final Deque<Consumer<Runnable>> waiting = new ArrayDeque<>();
    private boolean isBusy;

    /**
     * Begins as soon as those before have ended.
     *
     * @param operation runs what it is given when it has ended, once
     */
    void take(Consumer<Runnable> operation) {
        waiting.addLast(operation);
        next();
    }

    boolean areOver() {
        return !isBusy && waiting.isEmpty();
    }

    private void next() {
        if (!isBusy && !waiting.isEmpty()) {
            isBusy = true;
            waiting.removeFirst().accept(() -> {
                isBusy = false;
                next();
            });
        }
    }
}
