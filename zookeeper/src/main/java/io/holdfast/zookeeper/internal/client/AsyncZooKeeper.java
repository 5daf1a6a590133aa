package io.holdfast.zookeeper.internal.client;

import io.holdfast.spi.LockClaim;
import io.holdfast.zookeeper.internal.client.Call.AnsweredBy;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Makes the asynchronous calls of ZooKeeper's own client. Each is a {@link Call}: a mono for one subscriber, which always answers. */
public final class AsyncZooKeeper {

    static final int ANY_VERSION = -1;

    private static final byte[] NOTHING = {};

    /** Parsing so many names takes some microseconds. */
    private static final int SHORT_LIST = 500;

    /** If more are lost, all are forgotten. Each forgotten one costs at most a request that was not needed. */
    private static final int MOST_LOST_LISTS = 10_000;

    /**
     * A new node.
     *
     * @param path with the sequence number
     * @param zxid the transaction that created it
     */
    public record Created(String path, long zxid) {}

    /**
     * The content of a claim's node.
     *
     * @param owner the label in its data
     * @param czxid the transaction that created it
     * @param ctime when that was, in milliseconds since 1970 by the clock of the leader
     * @param reads whether it has become a reader, even if its name is that of a writer
     * @param holds whether it was marked as the node of a holder
     */
    public record Content(String owner, long czxid, long ctime, boolean reads, boolean holds) {}

    private final SerialExecutor executor;
    private final AccessRights rights;
    private final Deletions deletions;

    /** Queues whose list was under way when the connection was lost. On the executor. */
    private final Set<String> lostLists = new HashSet<>();

    public AsyncZooKeeper(SerialExecutor executor, AccessRights rights) {
        this.executor = executor;
        this.rights = rights;
        deletions = new Deletions(executor);
    }

    /** Creates an ephemeral node; the server appends a number to its name. */
    public Mono<Reply<Created>> enter(Session session, String prefix, LockClaim claim) {
        return create(session, prefix, NodeData.of(NodeData.WAITS, claim), CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    /**
     * Creates a queue and an ephemeral node in it, in one transaction. It is refused with {@code NODEEXISTS} if there is a queue. The server
     * removes a queue some time after its last node was deleted.
     *
     * @param path with the number that the first node of a queue has
     */
    public Mono<Reply<Created>> begin(Session session, String queue, String path, LockClaim claim) {
        // Only a written node is answered with the number of the transaction.
        List<Op> operations = List.of(
                Op.create(queue, NOTHING, rights.of(queue), CreateMode.CONTAINER),
                Op.create(path, NOTHING, rights.of(path), CreateMode.EPHEMERAL),
                Op.setData(path, NodeData.of(NodeData.WAITS, claim), ANY_VERSION));
        return Transaction.of(executor, session, operations).map(reply -> begun(path, reply));
    }

    private static Reply<Created> begun(String path, Reply<Transaction> reply) {
        if (!reply.isOk()) {
            return new Reply<>(reply.code(), reply.path(), null);
        }
        Stat written = reply.get().written();
        return written == null
                ? new Reply<>(reply.get().codes().get(reply.get().refused()), reply.path(), null)
                : new Reply<>(Code.OK, path, new Created(path, written.getCzxid()));
    }

    /**
     * Creates the missing containers. Tries the last one first: usually the others exist, and the access rights above the root may forbid
     * creating them.
     *
     * @param nodes from the top
     */
    public Mono<Reply<Created>> ensure(Session session, List<String> nodes) {
        return ensure(session, nodes, nodes.size() - 1);
    }

    private Mono<Reply<Created>> ensure(Session session, List<String> nodes, int index) {
        return make(session, nodes.get(index))
                .flatMap(reply -> reply.isNoNode() && index > 0
                        ? ensure(session, nodes, index - 1)
                                .flatMap(above -> above.isOk() ? make(session, nodes.get(index)) : Mono.just(above))
                        : Mono.just(reply));
    }

    private Mono<Reply<Created>> make(Session session, String path) {
        return create(session, path, NOTHING, CreateMode.CONTAINER)
                .map(reply -> reply.code() == Code.NODEEXISTS ? new Reply<>(Code.OK, reply.path(), null) : reply);
    }

    private Mono<Reply<Created>> create(Session session, String path, byte[] data, CreateMode mode) {
        List<ACL> acl = rights.of(path);
        return agree(
                session,
                path,
                (handle, call) -> handle.create(
                        path,
                        data,
                        acl,
                        mode,
                        (code, prefix, context, name, stat) ->
                                call.answered(code, stat == null ? null : new Created(name, stat.getCzxid())),
                        null));
    }

    public Mono<Reply<List<String>>> list(Session session, String path) {
        return list(session, path, null);
    }

    /** Lists everything that was there when this was called. The connected server may be behind, so sync comes first (CURATOR-79, -264). */
    public Mono<Reply<List<String>>> syncAndList(Session session, String path) {
        return Mono.zip(sync(session, path), list(session, path)).map(both -> {
            Reply<Void> synced = both.getT1();
            return synced.isOk() || synced.isNoNode() ? both.getT2() : new Reply<>(synced.code(), path, null);
        });
    }

    /** Lists the nodes, and watches for new and deleted ones. A node without any, as that of a claim, is watched for its end. */
    public Mono<Reply<List<String>>> listAndWatch(Session session, String path) {
        return list(session, path, session.watcher());
    }

    /**
     * Parses the names of a queue. The executor may have borrowed ZooKeeper's event thread or an event loop, so a long list is parsed on a
     * thread of the scheduler.
     *
     * @param names the names in the queue
     * @param reading touches nothing that belongs to the executor
     */
    public <T> Mono<T> read(List<String> names, Supplier<T> reading) {
        return isLong(names) ? executor.elsewhere(reading) : Mono.fromSupplier(reading);
    }

    /** Whether a list is parsed on a thread of the scheduler, so that other answers may come first. */
    public boolean isLong(List<String> names) {
        return names.size() > SHORT_LIST;
    }

    /** If a list was lost, it may have been too long for the driver. Then this method first requests the number of nodes. */
    private Mono<Reply<List<String>>> list(Session session, String path, @Nullable Watcher watcher) {
        return !lostLists.isEmpty() && lostLists.contains(path)
                ? stat(session, path).flatMap(found -> listIfItFits(session, path, watcher, found))
                : listNow(session, path, watcher);
    }

    private Mono<Reply<List<String>>> listIfItFits(
            Session session, String path, @Nullable Watcher watcher, Reply<Stat> found) {
        if (!found.isOk()) {
            return Mono.just(new Reply<>(
                    found.code(), path, null)); // a list without a known length may cost the connection again
        }
        if (!QueueLimit.fits(session.handle(), found.get().getNumChildren())) {
            return Mono.just(new Reply<>(Code.MARSHALLINGERROR, path, null));
        }
        lostLists.remove(path);
        return listNow(session, path, watcher);
    }

    private Mono<Reply<List<String>>> listNow(Session session, String path, @Nullable Watcher watcher) {
        return this.<List<String>>ask(
                        session,
                        path,
                        (handle, call) -> handle.getChildren(
                                path,
                                watcher,
                                (int code, String asked, Object context, List<String> names) ->
                                        call.answered(code, names),
                                null))
                .doOnNext(listed -> {
                    if (listed.code() == Code.CONNECTIONLOSS) {
                        noteLost(path);
                    }
                });
    }

    /** Makes a call that any server answers. */
    private <T> Call<T> ask(Session session, String path, Call.Request<T> request) {
        return new Call<>(executor, session, AnsweredBy.ANY_SERVER, path, request);
    }

    /** Makes a call that is answered after a majority has agreed. */
    private <T> Call<T> agree(Session session, String path, Call.Request<T> request) {
        return new Call<>(executor, session, AnsweredBy.QUORUM, path, request);
    }

    private void noteLost(String list) {
        if (lostLists.size() >= MOST_LOST_LISTS) {
            lostLists.clear();
        }
        lostLists.add(list);
    }

    /** Reads a node, and watches its data and its end. A node that does not exist is not watched. */
    public Mono<Reply<Content>> watch(Session session, String path) {
        return content(session, path, session.watcher());
    }

    /** Reads a node. */
    public Mono<Reply<Content>> content(Session session, String path) {
        return content(session, path, null);
    }

    private Mono<Reply<Content>> content(Session session, String path, @Nullable Watcher watcher) {
        return ask(
                session,
                path,
                (handle, call) -> handle.getData(
                        path,
                        watcher,
                        (code, asked, context, data, stat) ->
                                call.answered(code, data == null ? null : NodeData.content(data, stat)),
                        null));
    }

    public Mono<Reply<Stat>> stat(Session session, String path) {
        return exists(session, path, null);
    }

    /** Watches for the end of a queue. */
    public Mono<Reply<Stat>> watchQueue(Session session, String path) {
        return exists(session, path, session.watcher());
    }

    /** Sets a watch that lasts as long as the session: the driver notifies it of the session's own changes. */
    public Mono<Reply<Stat>> watchSession(Session session) {
        return exists(session, session.watched(), session.watcher());
    }

    private Mono<Reply<Stat>> exists(Session session, String path, @Nullable Watcher watcher) {
        return ask(
                session,
                path,
                (handle, call) ->
                        handle.exists(path, watcher, (code, asked, context, stat) -> call.answered(code, stat), null));
    }

    public void stopWatching(Session session) {
        session.handle()
                .removeWatches(
                        session.watched(),
                        session.watcher(),
                        Watcher.WatcherType.Any,
                        true,
                        (code, asked, context) -> {},
                        null);
    }

    /** Marks the node of a claim as one that holds the lock. Clients that watch the node are notified. */
    public Mono<Reply<Stat>> mark(Session session, String path, LockClaim claim) {
        return write(session, path, NodeData.of(NodeData.HOLDS, claim));
    }

    /** Marks the node of a writer as the node of a reader. Clients that watch the node are notified. */
    public Mono<Reply<Stat>> markReader(Session session, String path, LockClaim claim) {
        return write(session, path, NodeData.of(NodeData.READS, claim));
    }

    private Mono<Reply<Stat>> write(Session session, String path, byte[] data) {
        return agree(
                session,
                path,
                (handle, call) -> handle.setData(
                        path, data, ANY_VERSION, (code, asked, context, stat) -> call.answered(code, stat), null));
    }

    public Mono<Reply<Void>> delete(Session session, String path) {
        return deletions.delete(session, path);
    }

    /** Makes sure that later reads return nothing older than this call. */
    public Mono<Reply<Void>> sync(Session session, String path) {
        return new Call<>(
                executor,
                session,
                AnsweredBy.LEADER,
                path,
                (handle, call) -> handle.sync(path, (code, asked, context) -> call.answered(code, null), null));
    }

    /**
     * Checks whether the nodes exist, by a transaction that changes nothing. A server that is cut off from the others still answers reads
     * for a while (up to {@code syncLimit} ticks). A transaction needs a majority, so it also proves the session.
     *
     * @return a code for each node, up to the first that does not exist; {@code RUNTIMEINCONSISTENCY} for the nodes after it
     */
    public Mono<Reply<List<Code>>> check(Session session, List<String> paths) {
        List<Op> checks =
                paths.stream().map(path -> Op.check(path, ANY_VERSION)).toList();
        return Transaction.of(executor, session, checks)
                .map(reply -> new Reply<>(
                        reply.code(), reply.path(), reply.isOk() ? reply.get().codes() : null));
    }
}
