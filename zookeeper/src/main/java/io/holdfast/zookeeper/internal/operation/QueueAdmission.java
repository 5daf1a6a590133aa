package io.holdfast.zookeeper.internal.operation;

import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.QueueLimit;
import io.holdfast.zookeeper.internal.client.Reply;
import io.holdfast.zookeeper.internal.queue.AdmissionWindow;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Keeps queues shorter than the longest list that the driver can read. A claim enters at once while its client has no sign that the queue
 * is long. Otherwise the client first requests the number of places. On the executor only.
 */
final class QueueAdmission {

    /** The most gates of long queues in which this client has no request under way. */
    private static final int MOST_IDLE = 1_000;

    /** In the order of use, the latest one last. */
    private final Map<String, AdmissionWindow<MonoSink<Reply<Boolean>>>> byQueue = new LinkedHashMap<>(16, 0.75f, true);

    private final AsyncZooKeeper zooKeeper;
    private final int maxWaiters;

    /** The limit of the last session, kept because the driver stores the setting as a text. */
    private @Nullable QueueLimit limit;

    private @Nullable ZooKeeper limitOf;

    /** Starts without any gate. */
    QueueAdmission(AsyncZooKeeper zooKeeper, int maxWaiters) {
        this.zooKeeper = zooKeeper;
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
     * @return true if the claim may enter now, and must then call {@link #answered}; false if the queue is full; the error code if the
     *     request to the server failed
     */
    Mono<Reply<Boolean>> enter(Session session, String queue) {
        AdmissionWindow<MonoSink<Reply<Boolean>>> gate = gate(queue);
        return gate.enters(limit(session).places())
                ? Mono.just(new Reply<>(Code.OK, queue, true))
                : Mono.create(sink -> {
                    gate.add(sink);
                    if (gate.hasToAsk()) {
                        ask(gate, session, queue);
                    }
                });
    }

    /**
     * A creation was answered.
     *
     * @param size how many places the queue had then; null if not known
     */
    void answered(Session session, String queue, @Nullable Integer size) {
        AdmissionWindow<MonoSink<Reply<Boolean>>> gate = byQueue.get(queue);
        if (gate == null) {
            return;
        }
        gate.answered();
        if (size != null) {
            gate.learn(size);
        }
        proceed(gate, session, queue);
    }

    /** The queue is missing. Returns false if another claim is creating it. If not, no other claim enters until {@link #open}. */
    boolean begins(String queue) {
        return gate(queue).close();
    }

    /** The claim that {@linkplain #begins was creating} the queue has entered, or has failed. */
    void open(Session session, String queue) {
        AdmissionWindow<MonoSink<Reply<Boolean>>> gate = gate(queue);
        gate.open();
        proceed(gate, session, queue);
    }

    /** Does the same as {@link #enter} for a claim that had entered, but must do so again behind the one that is creating the queue. */
    Mono<Reply<Boolean>> enterAgain(String queue) {
        return Mono.create(gate(queue)::addAgain);
    }

    private AdmissionWindow<MonoSink<Reply<Boolean>>> gate(String queue) {
        return byQueue.computeIfAbsent(queue, it -> new AdmissionWindow<>());
    }

    private void proceed(AdmissionWindow<MonoSink<Reply<Boolean>>> gate, Session session, String queue) {
        letIn(gate, session, queue);
        if (gate.hasToAsk()) {
            ask(gate, session, queue);
        }
        settle(gate, session, queue);
    }

    private void letIn(AdmissionWindow<MonoSink<Reply<Boolean>>> gate, Session session, String queue) {
        int places = limit(session).places();
        for (MonoSink<Reply<Boolean>> next = gate.next(places); next != null; next = gate.next(places)) {
            next.success(new Reply<>(Code.OK, queue, true));
        }
    }

    /** While the request is under way, no claim enters. Claims that arrive meanwhile wait for the same answer. */
    private void ask(AdmissionWindow<MonoSink<Reply<Boolean>>> gate, Session session, String queue) {
        Disposable unused = zooKeeper.stat(session, queue).subscribe(found -> {
            gate.asked();
            if (found.isOk() || found.isNoNode()) {
                gate.learn(found.isOk() ? found.get().getNumChildren() : 0);
                turnAwayIfFull(gate, session, queue);
                letIn(gate, session, queue);
            } else {
                turnAway(gate, new Reply<>(found.code(), queue, null));
            }
            settle(gate, session, queue);
        });
    }

    private void turnAwayIfFull(AdmissionWindow<MonoSink<Reply<Boolean>>> gate, Session session, String queue) {
        if (gate.isFull(limit(session).places())) {
            turnAway(gate, new Reply<>(Code.OK, queue, false));
        }
    }

    private static void turnAway(AdmissionWindow<MonoSink<Reply<Boolean>>> gate, Reply<Boolean> with) {
        gate.turnAway().forEach(sink -> sink.success(with));
    }

    private void settle(AdmissionWindow<MonoSink<Reply<Boolean>>> gate, Session session, String queue) {
        if (gate.isForgettable(limit(session).places())) {
            byQueue.remove(queue, gate);
        } else if (byQueue.size() > MOST_IDLE) {
            forgetTheOldest();
        }
    }

    private void forgetTheOldest() {
        byQueue.values().stream().filter(AdmissionWindow::isIdle).findFirst().ifPresent(byQueue.values()::remove);
    }

    /** Returns the number of gates, for tests. */
    int remembered() {
        return byQueue.size();
    }
}
