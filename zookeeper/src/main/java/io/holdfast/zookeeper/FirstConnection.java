package io.holdfast.zookeeper;

import io.holdfast.LockBackendException;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** Those who wait until there is a session. On the strand only. */
final class FirstConnection {

    private record Waiting(MonoSink<Session> sink, Subject subject) {}

    private final List<Waiting> waiting = new ArrayList<>();
    private final Strand strand;

    FirstConnection(Strand strand) {
        this.strand = strand;
    }

    /**
     * One more.
     *
     * @param search begins to look for a session
     */
    Mono<Session> await(Subject subject, Runnable search) {
        return Mono.create(sink -> {
            Waiting added = new Waiting(sink, subject);
            waiting.add(added);
            sink.onCancel(() -> strand.run(() -> waiting.remove(added)));
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
