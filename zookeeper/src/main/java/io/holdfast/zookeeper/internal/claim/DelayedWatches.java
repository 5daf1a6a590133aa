package io.holdfast.zookeeper.internal.claim;

import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.session.Session;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BiConsumer;
import reactor.core.Disposable;

/**
 * Watches nodes after a pause. Most nodes are deleted by then. A watch costs a request and, when the node is deleted, an event. On the
 * executor only.
 */
final class DelayedWatches {

    /** A watch to set at that time. */
    private record Due(ClaimState state, Session session, long nanos) {}

    /** In the order of arrival. While it is not empty, one task is scheduled. */
    private final Deque<Due> due = new ArrayDeque<>();

    private final SerialExecutor executor;
    private final Duration pause;
    private final BiConsumer<ClaimState, Session> watches;

    /** @param watches sets the watch, if the claim still has that node */
    DelayedWatches(SerialExecutor executor, Duration pause, BiConsumer<ClaimState, Session> watches) {
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

    /** Schedules one task for all watches, since a task for each would wake a thread for each. */
    private void watchAfter() {
        Disposable unused = executor.runAfter(pause, () -> {
            long now = executor.now();
            for (Due first = due.peek(); first != null; first = due.peek()) {
                if (first.nanos() - now > 0) {
                    watchAfter(); // after a full pause, not when the next one is due: that would wake a thread for each
                    return;
                }
                due.remove();
                watches.accept(first.state(), first.session());
            }
        });
    }
}
