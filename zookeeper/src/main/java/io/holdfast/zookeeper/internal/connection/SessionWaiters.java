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

/** Holds requests that wait for a session, for a limited time. On the executor only. */
final class SessionWaiters {

    /** Shorter than the engine's default time-out for an answer, since the engine does not know the servers. A retry follows. */
    static final Duration PATIENCE = Duration.ofMillis(1_500);

    private record Waiting(MonoSink<Session> sink, Subject subject, long sinceNanos) {}

    /** In the order of arrival. While it is not empty, one task is scheduled. */
    private final Deque<Waiting> waiting = new ArrayDeque<>();

    private final SerialExecutor executor;
    private final BiFunction<Subject, Duration, LockBackendException> noServer;

    /** The time since which requests wait for a session; 0 while none waits. */
    private long wantedSinceNanos;

    private boolean isTimed;

    /**
     * Starts empty.
     *
     * @param noServer makes the error, from the time for which a session was missing
     */
    SessionWaiters(SerialExecutor executor, BiFunction<Subject, Duration, LockBackendException> noServer) {
        this.executor = executor;
        this.noServer = noServer;
    }

    /**
     * Adds a request.
     *
     * @param search starts the search for a session
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

    /** Schedules one task for all waiting requests. */
    private void timeOut() {
        Waiting first = waiting.peek();
        if (isTimed || first == null) {
            return;
        }
        isTimed = true;
        Duration left = PATIENCE.minusNanos(executor.now() - first.sinceNanos());
        Disposable unused = executor.runAfter(left.isNegative() ? Duration.ZERO : left, () -> {
            isTimed = false;
            failExpired();
            timeOut();
        });
    }

    private void failExpired() {
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
