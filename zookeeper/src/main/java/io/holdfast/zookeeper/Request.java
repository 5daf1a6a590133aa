package io.holdfast.zookeeper;

import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One request of a claim, from its turn to its answer. Who asked may leave: then nothing is sent any more, unless it is owed,
 * but what was sent is awaited, because only the answer tells what the claim has.
 */
final class Request<T> {

    private final MonoSink<T> sink;
    private final Subject subject;
    private final Disposable.Swap waiting = Disposables.swap();

    /** Written by whoever cancels. */
    private volatile boolean isLeft;

    // All below: written and read on the strand.
    private @Nullable Runnable atTheEnd;
    private boolean isWaiting;
    private boolean isOwed;

    Request(MonoSink<T> sink, Subject subject, Strand strand) {
        this.sink = sink;
        this.subject = subject;
        sink.onCancel(() -> {
            isLeft = true;
            strand.run(this::stopWaiting);
        });
    }

    Subject subject() {
        return subject;
    }

    /** What comes after the answer; for one that has a turn. */
    void atTheEnd(Runnable task) {
        atTheEnd = task;
    }

    /** It is carried out even if nobody waits for it any more: a release, since no server ends a node while its session goes on. */
    void owe() {
        isOwed = true;
    }

    private boolean isOff() {
        return isLeft && !isOwed;
    }

    /** The one place that subscribes to the work: it goes on when nobody waits for it any more. */
    void begin(Sessions sessions, Function<Session, Mono<T>> work) {
        if (isOff()) {
            end();
            return;
        }
        isWaiting = true;
        boolean unused = waiting.update(sessions.current(subject).subscribe(session -> send(work, session), error -> {
            isWaiting = false;
            fail(error);
        }));
    }

    void answer(T value) {
        sink.success(value);
        end();
    }

    void fail(Throwable error) {
        sink.error(ZooKeeperFailures.unexpected(subject, error));
        end();
    }

    private void send(Function<Session, Mono<T>> work, Session session) {
        isWaiting = false;
        if (isOff()) {
            end();
            return;
        }
        Disposable unused = Mono.defer(() -> work.apply(session)).subscribe(this::answer, this::fail);
    }

    private void stopWaiting() {
        if (isWaiting && !isOwed) {
            isWaiting = false;
            waiting.dispose();
            end();
        }
    }

    private void end() {
        Runnable task = atTheEnd;
        atTheEnd = null;
        if (task != null) {
            task.run();
        }
    }
}
