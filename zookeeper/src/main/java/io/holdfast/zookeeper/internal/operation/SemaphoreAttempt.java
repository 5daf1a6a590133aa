package io.holdfast.zookeeper.internal.operation;

import io.holdfast.spi.LockAttempt;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.NodeData;
import io.holdfast.zookeeper.internal.client.Reply;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.queue.QueuePosition;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/**
 * The part of an attempt that finds out whether a claim of a semaphore has a permit. Each attempt reads the names in the queue, since any
 * node in front may make room.
 */
record SemaphoreAttempt(AcquireOperation acquire) {

    /** Continues for a claim that has a node. */
    Mono<LockAttempt> fromItsNode() {
        String watched = state().waitsFor();
        return watched != null && acquire.queues() ? unlessItStillWaits(watched) : inFull();
    }

    /** No change of the watched node was reported, so this only reads. Before it acts on a change that it finds, it sends a transaction. */
    private Mono<LockAttempt> unlessItStillWaits(String watched) {
        if (watched.equals(queue())) {
            return waitAtTheHead(listed -> inFull());
        }
        return state().isListDue()
                ? zooKeeper().list(session(), queue()).flatMap(listed -> unlessItIsStillBehind(watched, listed))
                : waitBehind(watched, this::inFull);
    }

    private Mono<LockAttempt> unlessItIsStillBehind(String watched, Reply<List<String>> listed) {
        if (!listed.isOk()) {
            return inFull();
        }
        return position(listed)
                .flatMap(position -> position instanceof QueuePosition.Behind behind
                                && watched.equals(state().queue().of(behind.name()))
                        ? acquire.queued()
                        : inFull());
    }

    /**
     * The list comes after the check in the same session, so it is not older. If the claim is first, the check also counts for the
     * validity.
     */
    private Mono<LockAttempt> inFull() {
        if (acquire.isProvedNow()) {
            return list();
        }
        return Mono.zip(
                        zooKeeper().check(session(), List.of(state().knownPath())),
                        zooKeeper().list(session(), queue()))
                .flatMap(both -> acquire.checked(both.getT1(), () -> acquire.judged(both.getT2())));
    }

    Mono<LockAttempt> list() {
        return zooKeeper().list(session(), queue()).flatMap(acquire::judged);
    }

    /** Decides by the names in the queue. */
    Mono<LockAttempt> judged(Reply<List<String>> listed) {
        return position(listed).flatMap(this::decided);
    }

    private Mono<LockAttempt> decided(QueuePosition position) {
        if (!state().isIn(session())) {
            return Mono.error(
                    ZooKeeperFailures.noSession(acquire.subject())); // the session ended while the list was read
        }
        if (position instanceof QueuePosition.Holder holder) {
            return acquire.hold(holder.isFollowed());
        }
        if (position instanceof QueuePosition.Missing) {
            claims().gone(state());
            return Mono.error(ZooKeeperFailures.vanished(acquire.subject()));
        }
        if (!acquire.queues()) {
            return acquire.leaveContended();
        }
        return position instanceof QueuePosition.Behind behind
                ? waitBehind(state().queue().of(behind.name()), this::list)
                : waitAtTheHead(acquire::judged);
    }

    private Mono<QueuePosition> position(Reply<List<String>> listed) {
        QueueNode own = state().node();
        return zooKeeper().read(listed.get(), () -> QueuePosition.of(listed.get(), own));
    }

    /** Waits until the node in front is deleted, or is marked as a holder. */
    private Mono<LockAttempt> waitBehind(String path, Supplier<Mono<LockAttempt>> whenItIsGone) {
        claims().expect(path, state());
        return zooKeeper().watch(session(), path).flatMap(watched -> {
            boolean holdsMeanwhile = watched.isOk() && NodeData.isOfAHolder(watched.get());
            if (watched.isNoNode() || holdsMeanwhile) {
                claims().expectNothing(state());
                return whenItIsGone.get();
            }
            return watched.isOk() ? acquire.queued() : acquire.fail(watched);
        });
    }

    /** Waits for a change of the nodes in the queue. */
    private Mono<LockAttempt> waitAtTheHead(Function<Reply<List<String>>, Mono<LockAttempt>> whenItIsNot) {
        claims().expect(queue(), state());
        return zooKeeper()
                .listAndWatch(session(), queue())
                .flatMap(listed -> !listed.isOk() || !state().isIn(session())
                        ? whenItIsNot.apply(listed)
                        : position(listed)
                                .flatMap(position -> position instanceof QueuePosition.AtTheHead
                                        ? acquire.queued()
                                        : whenItIsNot.apply(listed)));
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

    private ClaimRegistry claims() {
        return acquire.claims();
    }
}
