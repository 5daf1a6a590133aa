package io.holdfast.zookeeper.internal.connection;

import io.holdfast.LockBackendException;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.session.Session;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** Holds requests that wait for a session, for a limited time. On the executor only. */
final class SessionWaiters {

    /** Shorter than the engine's default time-out for an answer, since the engine does not know the servers. A retry follows. */
    static final Duration PATIENCE = Duration.ofMillis(1_500);

    private record Waiting(MonoSink<Session> sink, Subject subject) {}

    /** In the order of arrival. */
    private final Set<Waiting> waiting = new LinkedHashSet<>();

    private final SerialExecutor executor;
    private final Function<Subject, LockBackendException> noServer;

    /**
     * Starts empty.
     *
     * @param noServer makes the error of a request that has waited for too long
     */
    SessionWaiters(SerialExecutor executor, Function<Subject, LockBackendException> noServer) {
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
            Waiting added = new Waiting(sink, subject);
            waiting.add(added);
            sink.onCancel(() -> executor.run(() -> waiting.remove(added)));
            sink.onDispose(executor.runAfter(PATIENCE, () -> {
                if (waiting.remove(added)) {
                    sink.error(noServer.apply(subject));
                }
            }));
            search.run();
        });
    }

    boolean isAwaited() {
        return !waiting.isEmpty();
    }

    void found(Session session) {
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
