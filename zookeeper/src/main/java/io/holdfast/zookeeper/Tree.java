package io.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The asynchronous calls of ZooKeeper's own client, each a cold {@link Mono} that always answers and never fails. On ZooKeeper's event
 * thread, which Vert.x and others of the process share, nothing is done but to hand the answer over.
 */
final class Tree {

    static final byte[] HOLDS = {'h'};

    /** To read so many names takes some microseconds. */
    private static final int SHORT_LIST = 500;

    /** Each costs no more than a question that was not needed. */
    private static final int MOST_LOST_LISTS = 10_000;

    private static final byte[] WAITS = {};
    private static final int ANY_VERSION = -1;

    /**
     * A new node.
     *
     * @param path with the sequence number
     * @param zxid the transaction that created it
     */
    record Created(String path, long zxid) {}

    private final Strand strand;
    private final AccessRights rights;

    /** Queues whose list was asked for when the connection was lost. On the strand. */
    private final Set<String> lostLists = new HashSet<>();

    Tree(Strand strand, AccessRights rights) {
        this.strand = strand;
        this.rights = rights;
    }

    /** A node of the session's own; the server puts a number at the end of its name. */
    Mono<Reply<Created>> enter(Session session, String prefix) {
        return create(session, prefix, CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    /**
     * Makes what is missing. Asks for the last one first: usually the others are there, and the rights above the root may forbid to make
     * them. The server takes it away again some time after the last node in it is gone.
     */
    Mono<Reply<Created>> ensure(Session session, LockPath path) {
        List<String> nodes = path.fromTheTop();
        return ensure(session, nodes, nodes.size() - 1);
    }

    private Mono<Reply<Created>> ensure(Session session, List<String> nodes, int index) {
        Mono<Reply<Created>> made = create(session, nodes.get(index), CreateMode.CONTAINER)
                .map(reply -> reply.code() == Code.NODEEXISTS ? new Reply<>(Code.OK, reply.path(), null) : reply);
        return made.flatMap(reply -> reply.isNoNode() && index > 0
                ? ensure(session, nodes, index - 1).flatMap(above -> above.isOk() ? made : Mono.just(above))
                : Mono.just(reply));
    }

    private Mono<Reply<Created>> create(Session session, String path, CreateMode mode) {
        return transact(
                session,
                answer -> session.handle()
                        .create(
                                path,
                                WAITS,
                                rights.of(path),
                                mode,
                                (code, asked, context, name, stat) -> answer.accept(
                                        Reply.of(code, path, stat == null ? null : new Created(name, stat.getCzxid()))),
                                null));
    }

    Mono<Reply<List<String>>> list(Session session, String path) {
        return list(session, path, null);
    }

    /** Lists, and watches which nodes there are. */
    Mono<Reply<List<String>>> listAndWatch(Session session, String path) {
        return list(session, path, session.watcher());
    }

    /** Watches for the end of a node only: one that is its session's own has no nodes in it. */
    Mono<Reply<List<String>>> watchEnd(Session session, String path) {
        return list(session, path, session.watcher());
    }

    /**
     * Reads the names of a queue. The strand may have borrowed ZooKeeper's event thread or an event loop, so a long list is read on a
     * thread of the scheduler.
     *
     * @param names those in the queue
     * @param reading touches nothing that belongs to the strand
     */
    <T> Mono<T> read(List<String> names, Supplier<T> reading) {
        return names.size() <= SHORT_LIST ? Mono.fromSupplier(reading) : strand.elsewhere(reading);
    }

    /** A list may have been lost because it was too long for the driver, so its node is asked first how long it is. */
    private Mono<Reply<List<String>>> list(Session session, String path, @Nullable Watcher watcher) {
        return Mono.defer(() -> lostLists.contains(path)
                ? stat(session, path).flatMap(found -> listIfItFits(session, path, watcher, found))
                : listNow(session, path, watcher));
    }

    private Mono<Reply<List<String>>> listIfItFits(
            Session session, String path, @Nullable Watcher watcher, Reply<Stat> found) {
        if (!found.isOk()) {
            return listNow(session, path, watcher);
        }
        if (!QueueLimit.fits(session.handle(), found.get().getNumChildren())) {
            return Mono.just(new Reply<>(Code.MARSHALLINGERROR, path, null));
        }
        lostLists.remove(path);
        return listNow(session, path, watcher);
    }

    private Mono<Reply<List<String>>> listNow(Session session, String path, @Nullable Watcher watcher) {
        Mono<Reply<List<String>>> listed = ask(
                session,
                answer -> session.handle()
                        .getChildren(
                                path,
                                watcher,
                                (code, asked, context, names) -> answer.accept(Reply.of(code, path, names)),
                                null));
        return listed.doOnNext(reply -> {
            if (reply.code() == Code.CONNECTIONLOSS) {
                lost(path);
            }
        });
    }

    private void lost(String list) {
        if (lostLists.size() >= MOST_LOST_LISTS) {
            lostLists.clear();
        }
        lostLists.add(list);
    }

    /** Reads a node and watches its data and its end. A node that is not there is not watched. */
    Mono<Reply<byte[]>> watch(Session session, String path) {
        return ask(
                session,
                answer -> session.handle()
                        .getData(
                                path,
                                session.watcher(),
                                (code, asked, context, data, stat) -> answer.accept(Reply.of(code, path, data)),
                                null));
    }

    Mono<Reply<Stat>> stat(Session session, String path) {
        return exists(session, path, null);
    }

    /** A watch by which the session's own changes are heard of, whatever else is watched. */
    Mono<Reply<Stat>> hear(Session session) {
        return exists(session, Session.EAR, session.watcher());
    }

    void stopHearing(Session session) {
        session.handle()
                .removeWatches(
                        Session.EAR,
                        session.watcher(),
                        Watcher.WatcherType.Any,
                        true,
                        (code, asked, context) -> {},
                        null);
    }

    private Mono<Reply<Stat>> exists(Session session, String path, @Nullable Watcher watcher) {
        return ask(
                session,
                answer -> session.handle()
                        .exists(
                                path,
                                watcher,
                                (code, asked, context, stat) -> answer.accept(Reply.of(code, path, stat)),
                                null));
    }

    /** Marks a node of ours as one that holds the lock, which those who watch it see. */
    Mono<Reply<Stat>> mark(Session session, String path) {
        return askTheLeader(
                session,
                answer -> session.handle()
                        .setData(
                                path,
                                HOLDS,
                                ANY_VERSION,
                                (code, asked, context, stat) -> answer.accept(Reply.of(code, path, stat)),
                                null));
    }

    Mono<Reply<Void>> delete(Session session, String path) {
        return askTheLeader(
                session,
                answer -> session.handle()
                        .delete(
                                path,
                                ANY_VERSION,
                                (code, asked, context) -> answer.accept(Reply.of(code, path, null)),
                                null));
    }

    /** What is read after this is not older than this. */
    Mono<Reply<Void>> sync(Session session, String path) {
        return askTheLeader(
                session,
                answer -> session.handle()
                        .sync(path, (code, asked, context) -> answer.accept(Reply.of(code, path, null)), null));
    }

    /**
     * Whether the nodes are there, by a transaction that changes nothing. Unlike a read, which a server that was cut off from the others
     * goes on to answer for a while (up to {@code syncLimit} ticks), it is agreed on by a majority: it proves the session, too.
     *
     * @return a code for each, up to the first that is not there; {@code RUNTIMEINCONSISTENCY} for those after it
     */
    Mono<Reply<List<Code>>> check(Session session, List<String> paths) {
        List<Op> checks =
                paths.stream().map(path -> Op.check(path, ANY_VERSION)).toList();
        return transact(
                session,
                answer -> session.handle()
                        .multi(
                                checks,
                                (code, asked, context, results) ->
                                        answer.accept(checked(code, paths, results == null ? List.of() : results)),
                                null));
    }

    /** The leader asks for the session with each of the nodes, and notes there that it is over: then nothing is proved. */
    static Reply<List<Code>> checked(int code, List<String> paths, List<OpResult> results) {
        String first = paths.get(0);
        if (results.size() != paths.size()) {
            return Reply.of(code, first, null);
        }
        List<Code> codes = new ArrayList<>(results.size());
        for (OpResult result : results) {
            Reply<List<Code>> one = Reply.of(
                    result instanceof OpResult.ErrorResult error ? error.getErr() : Code.OK.intValue(), first, null);
            if (one.code() == Code.SESSIONEXPIRED || one.code() == Code.SESSIONMOVED) {
                return one;
            }
            codes.add(one.code());
        }
        return new Reply<>(Code.OK, first, codes);
    }

    /** Who has to answer. */
    private enum Asked {
        ANY_SERVER,
        THE_LEADER,
        A_MAJORITY
    }

    private <T> Mono<Reply<T>> ask(Session session, Consumer<Consumer<Reply<T>>> request) {
        return send(session, request, Asked.ANY_SERVER);
    }

    private <T> Mono<Reply<T>> askTheLeader(Session session, Consumer<Consumer<Reply<T>>> request) {
        return send(session, request, Asked.THE_LEADER);
    }

    private <T> Mono<Reply<T>> transact(Session session, Consumer<Consumer<Reply<T>>> request) {
        return send(session, request, Asked.A_MAJORITY);
    }

    private <T> Mono<Reply<T>> send(Session session, Consumer<Consumer<Reply<T>>> request, Asked whom) {
        return Mono.create(sink -> {
            long sentNanos = strand.now();
            if (whom != Asked.ANY_SERVER) {
                session.proof().asksTheLeader(sentNanos);
            }
            request.accept(reply -> strand.run(() -> {
                learn(session, sentNanos, reply.code(), whom);
                sink.success(reply);
            }));
        });
    }

    /** Other codes may be the driver's own: they prove nothing. */
    private void learn(Session session, long sentNanos, Code code, Asked whom) {
        SessionProof proof = session.proof();
        switch (code) {
            case OK -> {
                proof.negotiated(session.handle().getSessionTimeout());
                switch (whom) {
                    case ANY_SERVER -> proof.answered(sentNanos, strand.now());
                    case THE_LEADER -> proof.leaderAnswered(sentNanos, strand.now());
                    case A_MAJORITY -> proof.agreed(sentNanos, strand.now());
                }
            }
            case NONODE, NODEEXISTS -> proof.answered(sentNanos, strand.now());
            case CONNECTIONLOSS -> proof.lost(sentNanos);
            default -> {}
        }
    }
}
