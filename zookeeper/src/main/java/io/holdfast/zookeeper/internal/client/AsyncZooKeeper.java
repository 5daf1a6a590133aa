package io.holdfast.zookeeper.internal.client;

import io.holdfast.spi.LockClaim;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The asynchronous calls of ZooKeeper's own client, each a {@link Call}: a mono for one subscriber, which always answers. */
public final class AsyncZooKeeper {

    private static final byte[] NOTHING = {};

    /** To read so many names takes some microseconds. */
    private static final int SHORT_LIST = 500;

    /** Each costs no more than a question that was not needed. */
    private static final int MOST_LOST_LISTS = 10_000;

    /**
     * A new node.
     *
     * @param path with the sequence number
     * @param zxid the transaction that created it
     */
    public record Created(String path, long zxid) {}

    /**
     * What the node of a claim tells.
     *
     * @param owner the label in its data
     * @param czxid the transaction that created it
     * @param ctime when that was, in milliseconds since 1970 by the clock of the leader
     * @param reads whether it has become a reader, whatever its name says
     */
    public record Content(String owner, long czxid, long ctime, boolean reads) {}

    private final SerialExecutor executor;
    private final AccessRights rights;

    /** Queues whose list was asked for when the connection was lost. On the executor. */
    private final Set<String> lostLists = new HashSet<>();

    /** Told of such a queue. */
    private final Consumer<String> lost = this::noteLost;

    public AsyncZooKeeper(SerialExecutor executor, AccessRights rights) {
        this.executor = executor;
        this.rights = rights;
    }

    /** A node of the session's own; the server puts a number at the end of its name. */
    public Mono<Reply<Created>> enter(Session session, String prefix, LockClaim claim) {
        return create(session, prefix, NodeData.entering(claim), CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    /**
     * Makes what is missing. Asks for the last one first: usually the others are there, and the rights above the root may forbid to make
     * them. The server takes it away again some time after the last node in it is gone.
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
        return new Calls.Creation(executor, session, path, data, rights.of(path), mode);
    }

    public Mono<Reply<List<String>>> list(Session session, String path) {
        return list(session, path, null);
    }

    /** Lists, and watches which nodes there are. */
    public Mono<Reply<List<String>>> listAndWatch(Session session, String path) {
        return list(session, path, session.watcher());
    }

    /** Watches for the end of a node only: one that is its session's own has no nodes in it. */
    public Mono<Reply<List<String>>> watchEnd(Session session, String path) {
        return list(session, path, session.watcher());
    }

    /**
     * Reads the names of a queue. The executor may have borrowed ZooKeeper's event thread or an event loop, so a long list is read on a
     * thread of the scheduler.
     *
     * @param names those in the queue
     * @param reading touches nothing that belongs to the executor
     */
    public <T> Mono<T> read(List<String> names, Supplier<T> reading) {
        return names.size() <= SHORT_LIST ? Mono.fromSupplier(reading) : executor.elsewhere(reading);
    }

    /** A list may have been lost because it was too long for the driver, so its node is asked first how long it is. */
    private Mono<Reply<List<String>>> list(Session session, String path, @Nullable Watcher watcher) {
        return !lostLists.isEmpty() && lostLists.contains(path)
                ? stat(session, path).flatMap(found -> listIfItFits(session, path, watcher, found))
                : listNow(session, path, watcher);
    }

    private Mono<Reply<List<String>>> listIfItFits(
            Session session, String path, @Nullable Watcher watcher, Reply<Stat> found) {
        if (!found.isOk()) {
            return Mono.just(
                    new Reply<>(found.code(), path, null)); // a list sent on a guess may cost the connection again
        }
        if (!QueueLimit.fits(session.handle(), found.get().getNumChildren())) {
            return Mono.just(new Reply<>(Code.MARSHALLINGERROR, path, null));
        }
        lostLists.remove(path);
        return listNow(session, path, watcher);
    }

    private Mono<Reply<List<String>>> listNow(Session session, String path, @Nullable Watcher watcher) {
        return new Calls.Listing(executor, session, path, watcher, lost);
    }

    private void noteLost(String list) {
        if (lostLists.size() >= MOST_LOST_LISTS) {
            lostLists.clear();
        }
        lostLists.add(list);
    }

    /** Reads a node and watches its data and its end. A node that is not there is not watched. */
    public Mono<Reply<byte[]>> watch(Session session, String path) {
        return new Calls.Reading(executor, session, path);
    }

    /** Reads a node. */
    public Mono<Reply<Content>> content(Session session, String path) {
        return new Calls.Fetching(executor, session, path);
    }

    public Mono<Reply<Stat>> stat(Session session, String path) {
        return new Calls.Existence(executor, session, path, null);
    }

    /** Watches for the end of a queue. */
    public Mono<Reply<Stat>> watchQueue(Session session, String path) {
        return new Calls.Existence(executor, session, path, session.watcher());
    }

    /** A watch that is there as long as the session is: the driver tells it of the session's own changes. */
    public Mono<Reply<Stat>> watchSession(Session session) {
        return new Calls.Existence(executor, session, Session.WATCHED_NODE, session.watcher());
    }

    public void stopWatching(Session session) {
        session.handle()
                .removeWatches(
                        Session.WATCHED_NODE,
                        session.watcher(),
                        Watcher.WatcherType.Any,
                        true,
                        (code, asked, context) -> {},
                        null);
    }

    /** Marks the node of a claim as one that holds the lock. Clients that watch the node hear of it. */
    public Mono<Reply<Stat>> mark(Session session, String path, LockClaim claim) {
        return new Calls.Marking(executor, session, path, NodeData.holding(claim));
    }

    /** Marks the node of a writer as that of a reader. Clients that watch the node hear of it. */
    public Mono<Reply<Stat>> markReader(Session session, String path, LockClaim claim) {
        return new Calls.Marking(executor, session, path, NodeData.reading(claim));
    }

    public Mono<Reply<Void>> delete(Session session, String path) {
        return new Calls.Deletion(executor, session, path);
    }

    /** What is read after this is not older than this. */
    public Mono<Reply<Void>> sync(Session session, String path) {
        return new Calls.Syncing(executor, session, path);
    }

    /**
     * Whether the nodes are there, by a transaction that changes nothing. Unlike a read, which a server that was cut off from the others
     * goes on to answer for a while (up to {@code syncLimit} ticks), it is agreed on by a majority: it proves the session, too.
     *
     * @return a code for each, up to the first that is not there; {@code RUNTIMEINCONSISTENCY} for those after it
     */
    public Mono<Reply<List<Code>>> check(Session session, List<String> paths) {
        return new Calls.Check(executor, session, paths);
    }
}
