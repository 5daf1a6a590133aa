package io.holdfast.zookeeper.internal.client;

import io.holdfast.zookeeper.internal.session.Session;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Deletes nodes. A deletion is sent at once, unless some are under way: those that come meanwhile share one transaction. If one of them is
 * refused, it alone fails, and the others are sent again at once, each by itself. On the executor only.
 */
final class Deletions {

    /** With one, the next transaction would wait for the answer, and the servers would have nothing to do meanwhile. */
    static final int MOST_UNDER_WAY = 2;

    /** With the longest names, this is a tenth of {@code jute.maxbuffer}. */
    static final int MOST_TOGETHER = 64;

    private record Deletion(Session session, String path, MonoSink<Reply<Void>> sink) {

        void answer(Code code) {
            sink.success(new Reply<>(code, path, null));
        }
    }

    private final SerialExecutor executor;
    private final Deque<Deletion> waiting = new ArrayDeque<>();
    private int underWay;

    Deletions(SerialExecutor executor) {
        this.executor = executor;
    }

    /** Deletes the node after the subscription, on the executor. */
    Mono<Reply<Void>> delete(Session session, String path) {
        return Mono.create(sink -> {
            waiting.add(new Deletion(session, path, sink));
            sendNext();
        });
    }

    private void sendNext() {
        while (underWay < MOST_UNDER_WAY && !waiting.isEmpty()) {
            send(take());
        }
    }

    /** Takes the first deletions, as long as they are of one session. */
    private List<Deletion> take() {
        List<Deletion> together = new ArrayList<>();
        Deletion next = waiting.peekFirst();
        while (next != null
                && together.size() < MOST_TOGETHER
                && (together.isEmpty() || together.get(0).session().is(next.session()))) {
            together.add(waiting.removeFirst());
            next = waiting.peekFirst();
        }
        return together;
    }

    private void send(List<Deletion> together) {
        Deletion first = together.get(0);
        underWay++;
        Disposable unused = together.size() == 1
                ? alone(first).subscribe(deleted -> ended(() -> first.answer(deleted.code())))
                : Transaction.of(
                                executor,
                                first.session(),
                                together.stream()
                                        .map(it -> Op.delete(it.path(), AsyncZooKeeper.ANY_VERSION))
                                        .toList())
                        .subscribe(done -> ended(() -> answer(together, done)));
    }

    private Mono<Reply<Void>> alone(Deletion deletion) {
        return new Call<>(
                executor,
                deletion.session(),
                Call.AnsweredBy.QUORUM,
                deletion.path(),
                (handle, call) -> handle.delete(
                        deletion.path(),
                        AsyncZooKeeper.ANY_VERSION,
                        (code, path, context) -> call.answered(code, null),
                        null));
    }

    private void ended(Runnable answers) {
        underWay--;
        answers.run();
        sendNext();
    }

    private void answer(List<Deletion> together, Reply<Transaction> done) {
        int refused = done.isOk() ? done.get().refused() : -1;
        if (refused < 0) {
            together.forEach(it -> it.answer(done.code()));
            return;
        }
        for (int i = 0; i < together.size(); i++) {
            if (i != refused) {
                send(List.of(together.get(i))); // more of them may be refused, as after the end of a session
            }
        }
        together.get(refused).answer(done.get().codes().get(refused));
    }
}
