package io.holdfast.zookeeper;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import reactor.core.Disposable;

/**
 * Has nodes watched after a while. Most are gone by then, and a watch costs a request and, when the node is deleted, an event. On the strand
 * only.
 */
final class DelayedWatches {

    /** Sets the watch, if the claim still has that node. */
    interface Watches {

        void watch(Place place, Session session);
    }

    /** To be watched then. */
    private record Due(Place place, Session session, long nanos) {}

    /** In the order in which they came. There is a task when there is one of them. */
    private final Deque<Due> due = new ArrayDeque<>();

    private final Strand strand;
    private final Duration pause;
    private final Watches watches;

    DelayedWatches(Strand strand, Duration pause, Watches watches) {
        this.strand = strand;
        this.pause = pause;
        this.watches = watches;
    }

    void add(Place place, Session session) {
        due.add(new Due(place, session, strand.now() + pause.toNanos()));
        if (due.size() == 1) {
            watchAfter();
        }
    }

    /** One task for all, since one for each would wake a thread for each. */
    private void watchAfter() {
        Disposable unused = strand.runAfter(pause, () -> {
            long now = strand.now();
            for (Due first = due.peek(); first != null; first = due.peek()) {
                if (first.nanos() - now > 0) {
                    watchAfter(); // and not when that one is due: each of them would wake a thread then
                    return;
                }
                due.remove();
                watches.watch(first.place(), first.session());
            }
        });
    }
}
