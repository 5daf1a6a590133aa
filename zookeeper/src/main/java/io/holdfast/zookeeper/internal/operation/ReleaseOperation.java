package io.holdfast.zookeeper.internal.operation;

import io.holdfast.spi.Ownership;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.session.Session;
import reactor.core.publisher.Mono;

/**
 * Deletes the node of a claim that holds or waits, and the nodes of creations with an unknown outcome. On the executor, with no other
 * operation of the claim at the same time.
 *
 * @param state the state of the claim
 * @param session connected a moment ago
 */
record ReleaseOperation(ClaimState state, Session session, AsyncZooKeeper zooKeeper, ClaimRegistry claims) {

    Mono<Ownership> answer() {
        claims.guardNoLonger(state);
        if (!state.belongsTo(session)) {
            state.left(); // its node belonged to another session, which has ended
            return Mono.just(Ownership.NOT_HELD);
        }
        boolean wasHeld = state.isHeld();
        claims.queues().leaves(state);
        Mono<Boolean> known = state.isIn(session) ? delete(state.knownPath()) : Mono.just(false);
        return known.flatMap(deleted -> state.isDoubtful() ? deleteAllOfIts().thenReturn(deleted) : Mono.just(deleted))
                .map(deleted -> {
                    state.left();
                    return deleted && wasHeld ? Ownership.HELD : Ownership.NOT_HELD;
                });
    }

    private Mono<Boolean> delete(String path) {
        return zooKeeper
                .delete(session, path)
                .doOnNext(deleted -> {
                    if (deleted.isDeleted()) {
                        claims.queues().gone(path);
                    }
                })
                .flatMap(deleted -> deleted.isDeleted()
                        ? Mono.just(deleted.isOk())
                        : Mono.error(ZooKeeperFailures.of(subject(), deleted)));
    }

    /** The outcome of a creation is unknown, so there may be a node, or a second one. */
    private Mono<Void> deleteAllOfIts() {
        return new OwnNodes(state, session, zooKeeper, subject())
                .find()
                .flatMapIterable(nodes -> nodes)
                .concatMap(node -> delete(state.queue().of(node.name())))
                .then();
    }

    private Subject subject() {
        return Subject.of("release", state.lockName());
    }
}
