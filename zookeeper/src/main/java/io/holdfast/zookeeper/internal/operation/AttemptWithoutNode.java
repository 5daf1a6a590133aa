package io.holdfast.zookeeper.internal.operation;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Waiting;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.Reply;
import io.holdfast.zookeeper.internal.queue.NewerFormException;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.queue.QueueStanding;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * The attempt of a claim that does not queue. While a node blocks it, it writes nothing: it reads, and it watches if it wants a
 * notification.
 */
record AttemptWithoutNode(AcquireOperation acquire) {

    Mono<LockAttempt> answer() {
        return whenFree(acquire.claims().queues().list(queue(), session()), this::refused);
    }

    private Mono<LockAttempt> whenFree(
            Mono<Reply<List<String>>> list, Function<QueueNode, Mono<LockAttempt>> otherwise) {
        return list.flatMap(listed -> {
            if (!listed.isOk()) {
                if (!listed.isNoNode()) {
                    return acquire.fail(listed);
                }
                acquire.queue().isMissing();
                return acquire.enter();
            }
            return zooKeeper()
                    .read(
                            listed.get(),
                            () -> Optional.ofNullable(
                                    QueueStanding.blockerOf(QueueNode.newcomer(acquire.claim()), listed.get())))
                    .onErrorMap(
                            NewerFormException.class,
                            newer -> acquire.failure(Reply.newer(state().queue().of(newer.node()))))
                    .flatMap(blocker -> blocker.map(otherwise).orElseGet(acquire::enter));
        });
    }

    private Mono<LockAttempt> refused(QueueNode blocker) {
        if (acquire.claim().key().kind() == LockKind.READ) {
            return zooKeeper()
                    .content(session(), state().queue().of(blocker.name()))
                    .flatMap(read -> {
                        if (read.isOk() && read.get().reads()) {
                            acquire.queue().reads(blocker);
                            // The blocker was the nearest writer and the first node: there is no other writer.
                            return acquire.enter();
                        }
                        return refusedFor(blocker);
                    });
        }
        return refusedFor(blocker);
    }

    private Mono<LockAttempt> refusedFor(QueueNode blocker) {
        if (acquire.claim().waiting() == Waiting.NONE) {
            return acquire.contended();
        }
        return acquire.claim().key().kind() == LockKind.SEMAPHORE
                ? refusedPermit()
                : refusedBehind(state().queue().of(blocker.name()));
    }

    private Mono<LockAttempt> refusedBehind(String path) {
        acquire.claims().expect(path, state());
        return zooKeeper().watch(session(), path).flatMap(watched -> {
            if (watched.isNoNode()) {
                acquire.claims().expectNothing(state());
                return answer();
            }
            return watched.isOk() ? acquire.contended() : acquire.fail(watched);
        });
    }

    /** A permit waits for a change of any node in the queue. */
    private Mono<LockAttempt> refusedPermit() {
        acquire.claims().expect(queue(), state());
        return whenFree(zooKeeper().listAndWatch(session(), queue()), blocker -> acquire.contended());
    }

    private String queue() {
        return state().queue().path();
    }

    private ClaimState state() {
        return acquire.state();
    }

    private Session session() {
        return acquire.session();
    }

    private AsyncZooKeeper zooKeeper() {
        return acquire.zooKeeper();
    }
}
