package io.holdfast.zookeeper.internal.inspect;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper.Content;
import io.holdfast.zookeeper.internal.client.Reply;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.queue.LockPath;
import io.holdfast.zookeeper.internal.queue.NewerFormException;
import io.holdfast.zookeeper.internal.queue.NodeNames;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.queue.QueueStanding;
import io.holdfast.zookeeper.internal.session.Session;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads the queues for an operator: the names in them, and the data of the first nodes. Each request begins with a {@code sync}, so no
 * answer is older than its request. Only {@link #breakHold} writes. On the executor, like all operations.
 *
 * @param subject for messages
 */
public record QueueInspection(AsyncZooKeeper zooKeeper, Session session, Subject subject) {

    /** Emits the names of the locks of a kind that have a queue, even an empty one. */
    public Mono<List<String>> names(LockKind kind) {
        String path = LockPath.ofAll(session.root(), kind);
        return children(path)
                .map(nodes -> nodes.stream()
                        .flatMap(node -> NodeNames.decode(node).stream())
                        .toList());
    }

    /** Emits the state of a lock; empty if it has no claims. */
    public Mono<LockReport> report(LockKey key) {
        LockPath path = LockPath.of(session.root(), key);
        return standing(path)
                .filter(standing -> !standing.holders().isEmpty())
                .flatMap(standing -> holders(path, standing)
                        .flatMap(holders -> waiters(path, standing)
                                .map(waiters -> report(key, standing, holders, waiters, List.of()))))
                .onErrorResume(
                        NewerFormException.class,
                        newer -> Mono.just(report(
                                key,
                                new QueueStanding(List.of(), List.of()),
                                List.of(),
                                List.of(),
                                List.of(ZooKeeperFailures.NEWER))));
    }

    private static LockReport report(
            LockKey key,
            QueueStanding standing,
            List<LockHolder> holders,
            List<LockWaiter> waiters,
            List<String> warnings) {
        return new LockReport(
                key.name(),
                LockReport.Type.of(key.kind()),
                standing.holders().size(),
                holders,
                standing.waiters().size(),
                waiters,
                holders.isEmpty()
                        ? OptionalLong.empty()
                        : OptionalLong.of(holders.get(holders.size() - 1).fencingToken()),
                Map.of(),
                warnings);
    }

    /** Emits the holders of a lock. */
    public Flux<LockHolder> holders(LockKey key) {
        LockPath path = LockPath.of(session.root(), key);
        return standing(path)
                .onErrorMap(NewerFormException.class, newer -> newer(path, newer))
                .flatMap(standing -> holders(path, standing))
                .flatMapIterable(holders -> holders);
    }

    private Mono<QueueStanding> standing(LockPath path) {
        return children(path.path()).flatMap(names -> standing(path, names));
    }

    private LockBackendException newer(LockPath path, NewerFormException newer) {
        return ZooKeeperFailures.of(subject, Reply.newer(path.of(newer.node())));
    }

    /** The node of a writer that has become a reader has the name of a writer, so its data must be read. */
    private Mono<QueueStanding> standing(LockPath path, List<String> names) {
        QueueStanding byName = QueueStanding.of(names);
        QueueNode first = byName.holders().isEmpty() ? null : byName.holders().get(0);
        if (first == null || first.kind() != LockKind.WRITE) {
            return Mono.just(byName);
        }
        return zooKeeper.content(session, path.of(first.name())).flatMap(reply -> {
            if (reply.isNoNode()) {
                return Mono.just(byName);
            }
            if (!reply.isOk()) {
                return Mono.error(ZooKeeperFailures.of(subject, reply));
            }
            return Mono.just(reply.get().reads() ? QueueStanding.of(names, first.name()) : byName);
        });
    }

    private Mono<List<LockHolder>> holders(LockPath path, QueueStanding standing) {
        return read(path, standing.holders(), LockReport.MOST_HOLDERS, QueueInspection::holder);
    }

    private Mono<List<LockWaiter>> waiters(LockPath path, QueueStanding standing) {
        return read(path, standing.waiters(), LockReport.MOST_WAITERS, QueueInspection::waiter);
    }

    /** Reads the data of the nodes. Leaves out nodes that were deleted meanwhile. */
    private <T> Mono<List<T>> read(
            LockPath path, List<QueueNode> nodes, int most, BiFunction<QueueNode, Content, T> shown) {
        return Flux.fromIterable(nodes)
                .take(most)
                .concatMap(node -> zooKeeper
                        .content(session, path.of(node.name()))
                        .flatMap(reply -> {
                            if (reply.isNoNode()) {
                                return Mono.<T>empty();
                            }
                            return reply.isOk()
                                    ? Mono.just(shown.apply(node, reply.get()))
                                    : Mono.error(ZooKeeperFailures.of(subject, reply));
                        }))
                .collectList();
    }

    /** No server reports when the claim got the lock, nor when its session ends. */
    private static LockHolder holder(QueueNode node, Content content) {
        return new LockHolder(
                claimId(node, content),
                node.kind(),
                node.taken(),
                content.czxid(),
                Optional.empty(),
                Optional.empty(),
                details(node, content));
    }

    private static LockWaiter waiter(QueueNode node, Content content) {
        return new LockWaiter(
                claimId(node, content),
                node.kind(),
                node.taken(),
                node.permits(),
                Optional.empty(),
                details(node, content));
    }

    private static Map<String, String> details(QueueNode node, Content content) {
        Map<String, String> details = new LinkedHashMap<>();
        details.put("session", "0x" + Long.toHexString(node.sessionId()) + ", which keeps the lock until it ends");
        details.put("in the queue since", Instant.ofEpochMilli(content.ctime()).toString());
        return details;
    }

    private static String claimId(QueueNode node, Content content) {
        String id = NodeNames.decode(node.claimId()).orElse(node.claimId());
        return content.owner().isEmpty() ? id : id + LockClaim.OWNER_MARK + content.owner();
    }

    /** Deletes the node of a holder. */
    public Mono<Boolean> breakHold(LockKey key, String claimId) {
        LockPath path = LockPath.of(session.root(), key);
        String inNames = NodeNames.ofClaim(claimId);
        return standing(path)
                .onErrorMap(NewerFormException.class, newer -> newer(path, newer))
                .flatMapIterable(QueueStanding::holders)
                .filter(node -> node.claimId().equals(inNames))
                .next()
                .flatMap(node -> zooKeeper.delete(session, path.of(node.name())))
                .flatMap(deleted -> deleted.isDeleted()
                        ? Mono.just(deleted.isOk())
                        : Mono.<Boolean>error(ZooKeeperFailures.of(subject, deleted)))
                .defaultIfEmpty(false);
    }

    private Mono<List<String>> children(String path) {
        return zooKeeper.syncAndList(session, path).flatMap(listed -> {
            if (listed.isNoNode()) {
                return nothingThere();
            }
            return listed.isOk() ? Mono.just(listed.get()) : Mono.error(ZooKeeperFailures.of(subject, listed));
        });
    }

    /** Without its chroot, the client would see no lock of any client. */
    private Mono<List<String>> nothingThere() {
        return zooKeeper
                .stat(session, Session.TOP)
                .flatMap(top -> top.isNoNode()
                        ? Mono.error(ZooKeeperFailures.noChroot(subject, session))
                        : Mono.just(List.<String>of()));
    }
}
