package io.holdfast.zookeeper.internal.operation;

import io.holdfast.zookeeper.internal.client.QueueLimit;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Limits how many claims of this client enter one queue at once. Each creation makes the queue longer before its client sees the length: a
 * claim that finds too many nodes in front leaves. {@link QueueLimit} has room for the claims that enter meanwhile. On the executor only.
 */
final class QueueAdmission {

    /**
     * A server answers one session in order, so a renewal waits for all earlier requests of its client, and most creations come with a
     * list. More creations at once would not fill a queue sooner.
     */
    static final int MOST_UNDER_WAY = 32;

    private static final class Gate {

        private int underWay = 1;
        private final Deque<MonoSink<Boolean>> waiting = new ArrayDeque<>(0);
    }

    /** The queues with a creation under way. */
    private final Map<String, Gate> byQueue = new HashMap<>();

    private final int maxWaiters;

    /** The limit of the last session, kept because the driver stores the setting as a text. */
    private @Nullable QueueLimit limit;

    private @Nullable ZooKeeper limitOf;

    /** Starts without any gate. */
    QueueAdmission(int maxWaiters) {
        this.maxWaiters = maxWaiters;
    }

    QueueLimit limit(Session session) {
        QueueLimit known = limit;
        if (known == null || limitOf != session.handle()) {
            known = QueueLimit.of(session.handle(), maxWaiters);
            limit = known;
            limitOf = session.handle();
        }
        return known;
    }

    /**
     * Requests to enter a queue now. Usually the answer is known at once.
     *
     * @return true if the claim may enter now, and must then call {@link #answered}; false if the queue is full
     */
    Mono<Boolean> enter(String queue) {
        Gate gate = byQueue.get(queue);
        if (gate == null) {
            byQueue.put(queue, new Gate());
            return Mono.just(true);
        }
        if (gate.underWay < MOST_UNDER_WAY) {
            gate.underWay++;
            return Mono.just(true);
        }
        return Mono.create(gate.waiting::addLast);
    }

    /** A creation was answered, or could not be sent. The next claim may enter. */
    void answered(String queue) {
        Gate gate = byQueue.get(queue);
        if (gate == null) {
            return;
        }
        MonoSink<Boolean> next = gate.waiting.pollFirst();
        if (next != null) {
            next.success(true);
        } else if (--gate.underWay == 0) {
            byQueue.remove(queue);
        }
    }

    /** A claim has found the queue full. So it is full for those that still wait to enter. */
    void isFull(String queue) {
        Gate gate = byQueue.get(queue);
        if (gate != null) {
            List<MonoSink<Boolean>> all = List.copyOf(gate.waiting);
            gate.waiting.clear();
            all.forEach(it -> it.success(false));
        }
    }

    /** Returns the number of gates, for tests. */
    int remembered() {
        return byQueue.size();
    }
}
