package io.holdfast.zookeeper;

import io.holdfast.spi.Ownership;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import reactor.core.publisher.Mono;

/**
 * Ends what a claim has, whatever it is: a held lock, a place in the queue, or perhaps a node. On the strand, and alone for its claim.
 *
 * @param place whose
 * @param session connected a moment ago
 */
record Withdrawal(Place place, Session session, Tree tree, Places places) {

    Mono<Ownership> answer() {
        places.expectNothing(place);
        places.guardNoLonger(place);
        if (!place.belongsTo(session)) {
            place.left(); // what it had was another session's, which has ended
            return Mono.just(Ownership.NOT_HELD);
        }
        boolean wasHeld = place.isHeld();
        places.queues().leaves(place);
        Mono<Boolean> known = place.isIn(session) ? delete(place.knownPath()) : Mono.just(false);
        return known.flatMap(deleted -> place.isDoubtful() ? deleteAllOfIts().thenReturn(deleted) : Mono.just(deleted))
                .map(deleted -> {
                    place.left();
                    return deleted && wasHeld ? Ownership.HELD : Ownership.NOT_HELD;
                });
    }

    private Mono<Boolean> delete(String path) {
        return tree.delete(session, path)
                .doOnNext(deleted -> {
                    if (deleted.isOk() || deleted.isNoNode()) {
                        places.queues().gone(path);
                    }
                })
                .flatMap(deleted -> deleted.isOk() || deleted.isNoNode()
                        ? Mono.just(deleted.isOk())
                        : Mono.error(ZooKeeperFailures.of(subject(), deleted)));
    }

    /** A creation had an unknown outcome, so there may be a node, or one more. */
    private Mono<Void> deleteAllOfIts() {
        return new OwnNodes(place, session, tree, subject())
                .find()
                .flatMapIterable(nodes -> nodes)
                .concatMap(node -> delete(place.queue().of(node.name())))
                .then();
    }

    private Subject subject() {
        return Subject.of("release", place.lockName());
    }
}
