package io.holdfast.zookeeper.internal.connection;

import io.holdfast.LockBackendException;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.session.Session;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** Requests that wait until there is a session, for a limited time. On the executor only. */
final class SessionWaiters {

    /** Less than the engine waits for an answer, by default, since it does not know the servers; a retry follows. */
    static final Duration PATIENCE = Duration.ofMillis(1_500);

    private record Waiting(MonoSink<Session> sink, Subject subject, long sinceNanos) {}

    /** In the order in which they came. There is a task when there is one of them. */
    private final Deque<Waiting> waiting = new ArrayDeque<>();

    private final SerialExecutor executor;
    private final BiFunction<Subject, Duration, LockBackendException> noServer;

    /** Since when there is no session and one is wanted. */
    private long wantedSinceNanos;

    private boolean isTimed;

    /**
     * Nothing waits.
     *
     * @param noServer tells how long a session was wanted in vain
     */
    SessionWaiters(SerialExecutor executor, BiFunction<Subject, Duration, LockBackendException> noServer) {
        this.executor = executor;
        this.noServer = noServer;
    }

    /**
     * One more.
     *
     * @param search begins to look for a session
     */
    Mono<Session> await(Subject subject, Runnable search) {
        return Mono.create(sink -> {
            Waiting added = new Waiting(sink, subject, executor.now());
            wantedSinceNanos = wantedSinceNanos == 0 ? added.sinceNanos() : wantedSinceNanos;
            waiting.add(added);
            sink.onCancel(() -> executor.run(() -> waiting.remove(added)));
            timeOut();
            search.run();
        });
    }

    /** One task for all. */
    private void timeOut() {
        Waiting first = waiting.peek();
        if (isTimed || first == null) {
            return;
        }
        isTimed = true;
        Duration left = PATIENCE.minusNanos(executor.now() - first.sinceNanos());
        Disposable unused = executor.runAfter(left.isNegative() ? Duration.ZERO : left, () -> {
            isTimed = false;
            giveUpThoseThatWaitedLong();
            timeOut();
        });
    }

    private void giveUpThoseThatWaitedLong() {
        long now = executor.now();
        for (Waiting it = waiting.peek();
                it != null && now - it.sinceNanos() >= PATIENCE.toNanos();
                it = waiting.peek()) {
            waiting.remove();
            it.sink().error(noServer.apply(it.subject(), Duration.ofNanos(now - wantedSinceNanos)));
        }
    }

    boolean isAwaited() {
        return !waiting.isEmpty();
    }

    void found(Session session) {
        wantedSinceNanos = 0;
        take().forEach(it -> it.sink().success(session));
    }

    void fail(Function<Subject, LockBackendException> error) {
        take().forEach(it -> it.sink().error(error.apply(it.subject())));
    }

    private List<Waiting> take() {
        List<Waiting> all = List.copyOf(waiting);
        waiting.clear();
        return all;
    }
}
