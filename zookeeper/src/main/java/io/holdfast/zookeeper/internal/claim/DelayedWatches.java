package io.holdfast.zookeeper.internal.claim;

import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.session.Session;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import reactor.core.Disposable;

/**
 * Has nodes watched after a while. Most are gone by then, and a watch costs a request and, when the node is deleted, an event. On the executor
 * only.
 */
final class DelayedWatches {

    /** Sets the watch, if the claim still has that node. */
    interface Watches {

        void watch(ClaimState state, Session session);
    }

    /** To be watched then. */
    private record Due(ClaimState state, Session session, long nanos) {}

    /** In the order in which they came. There is a task when there is one of them. */
    private final Deque<Due> due = new ArrayDeque<>();

    private final SerialExecutor executor;
    private final Duration pause;
    private final Watches watches;

    DelayedWatches(SerialExecutor executor, Duration pause, Watches watches) {
        this.executor = executor;
        this.pause = pause;
        this.watches = watches;
    }

    void add(ClaimState state, Session session) {
        due.add(new Due(state, session, executor.now() + pause.toNanos()));
        if (due.size() == 1) {
            watchAfter();
        }
    }

    /** One task for all, since one for each would wake a thread for each. */
    private void watchAfter() {
        Disposable unused = executor.runAfter(pause, () -> {
            long now = executor.now();
            for (Due first = due.peek(); first != null; first = due.peek()) {
                if (first.nanos() - now > 0) {
                    watchAfter(); // and not when that one is due: each of them would wake a thread then
                    return;
                }
                due.remove();
                watches.watch(first.state(), first.session());
            }
        });
    }
}
