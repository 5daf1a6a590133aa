package io.holdfast.zookeeper;

import io.holdfast.spi.Ownership;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import java.util.List;
import reactor.core.publisher.Flux;
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
            return Mono.just(Ownership.NOT_HELD);
        }
        boolean wasHeld = place.isHeld();
        Mono<Boolean> known = place.isIn(session) ? delete(place.knownPath()) : Mono.just(false);
        return known.flatMap(deleted -> place.isDoubtful() ? deleteAllOfIts().thenReturn(deleted) : Mono.just(deleted))
                .map(deleted -> {
                    place.left();
                    return deleted && wasHeld ? Ownership.HELD : Ownership.NOT_HELD;
                });
    }

    private Mono<Boolean> delete(String path) {
        return tree.delete(session, path)
                .flatMap(deleted -> deleted.isOk() || deleted.isNoNode()
                        ? Mono.just(deleted.isOk())
                        : Mono.error(ZooKeeperFailures.of(subject(), deleted)));
    }

    /** A creation had an unknown outcome, so there may be a node, or one more. */
    private Mono<Boolean> deleteAllOfIts() {
        String queue = place.queue().path();
        return Mono.zip(tree.sync(session, queue), tree.list(session, queue)).flatMap(both -> {
            Reply<List<String>> listed = both.getT2();
            for (Reply<?> reply : List.of(both.getT1(), listed)) {
                if (!reply.isOk() && !reply.isNoNode()) {
                    return Mono.error(ZooKeeperFailures.of(subject(), reply));
                }
            }
            return Flux.fromIterable(listed.isOk() ? listed.get() : List.of())
                    .filter(this::isItsOwn)
                    .concatMap(name -> delete(place.queue().of(name)))
                    .then(Mono.just(true));
        });
    }

    private boolean isItsOwn(String name) {
        QueueNode node = QueueNode.parse(name);
        return node != null && node.belongsTo(place.claim(), session.id());
    }

    private Subject subject() {
        return Subject.of("release", place.lockName());
    }
}
