package io.holdfast.zookeeper.internal.operation;

import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/**
 * Finds the nodes that a claim has in its queue, after a creation with an unknown outcome.
 *
 * @param session only nodes of this session are the claim's own
 * @param subject for messages
 */
record OwnNodes(ClaimState state, Session session, AsyncZooKeeper zooKeeper, Subject subject) {

    /** Emits the nodes in their order. */
    Mono<List<QueueNode>> find() {
        return zooKeeper
                .syncAndList(session, state.queue().path())
                .flatMap(listed -> listed.isOk() || listed.isNoNode()
                        ? Mono.just(listed.isOk() ? among(listed.get()) : List.of())
                        : Mono.error(ZooKeeperFailures.of(subject, listed)));
    }

    List<QueueNode> among(List<String> names) {
        String prefix = QueueNode.ownPrefix(state.claim());
        return names.stream()
                .filter(name -> name.startsWith(prefix))
                .flatMap(name -> Stream.ofNullable(QueueNode.parse(name)))
                .filter(node -> node.belongsTo(state.claim(), session.id()))
                .sorted(Comparator.comparingInt(QueueNode::sequence))
                .toList();
    }
}
