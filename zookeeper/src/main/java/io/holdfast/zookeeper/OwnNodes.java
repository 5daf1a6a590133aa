package io.holdfast.zookeeper;

import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import reactor.core.publisher.Mono;

/**
 * The nodes that a claim has in its queue, when a creation may have been carried out or not.
 *
 * @param session only what this one made is the claim's own
 * @param subject what for
 */
record OwnNodes(Place place, Session session, Tree tree, Subject subject) {

    /** In their order. What the own server shows may be behind, so sync comes first (CURATOR-79, -264). */
    Mono<List<QueueNode>> find() {
        String queue = place.queue().path();
        return Mono.zip(tree.sync(session, queue), tree.list(session, queue)).flatMap(both -> {
            Reply<List<String>> listed = both.getT2();
            for (Reply<?> reply : List.of(both.getT1(), listed)) {
                if (!reply.isOk() && !reply.isNoNode()) {
                    return Mono.error(ZooKeeperFailures.of(subject, reply));
                }
            }
            return Mono.just(listed.isOk() ? among(listed.get()) : List.of());
        });
    }

    List<QueueNode> among(List<String> names) {
        String prefix = QueueNode.ownPrefix(place.claim());
        return names.stream()
                .filter(name -> name.startsWith(prefix))
                .map(QueueNode::parse)
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull)
                .filter(node -> node.belongsTo(place.claim(), session.id()))
                .sorted(Comparator.comparingInt(QueueNode::sequence))
                .toList();
    }
}
