package io.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
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
        return make(session, nodes.get(index))
                .flatMap(reply -> reply.isNoNode() && index > 0
                        ? ensure(session, nodes, index - 1)
                                .flatMap(above -> above.isOk() ? make(session, nodes.get(index)) : Mono.just(above))
                        : Mono.just(reply));
    }

    private Mono<Reply<Created>> make(Session session, String path) {
        return create(session, path, CreateMode.CONTAINER)
                .map(reply -> reply.code() == Code.NODEEXISTS ? new Reply<>(Code.OK, reply.path(), null) : reply);
    }

    private Mono<Reply<Created>> create(Session session, String path, CreateMode mode) {
        return new Creation(session, path, mode);
    }

    private final class Creation extends Call<Created> implements AsyncCallback.Create2Callback {

        private final CreateMode mode;

        Creation(Session session, String path, CreateMode mode) {
            super(strand, session, Asked.A_MAJORITY, path);
            this.mode = mode;
        }

        @Override
        void send(ZooKeeper handle) {
            handle.create(path(), WAITS, rights.of(path()), mode, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context, String name, @Nullable Stat stat) {
            answered(code, stat == null ? null : new Created(name, stat.getCzxid()));
        }
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
        return !lostLists.isEmpty() && lostLists.contains(path)
                ? stat(session, path).flatMap(found -> listIfItFits(session, path, watcher, found))
                : new Listing(session, path, watcher);
    }

    private Mono<Reply<List<String>>> listIfItFits(
            Session session, String path, @Nullable Watcher watcher, Reply<Stat> found) {
        if (!found.isOk()) {
            return new Listing(session, path, watcher);
        }
        if (!QueueLimit.fits(session.handle(), found.get().getNumChildren())) {
            return Mono.just(new Reply<>(Code.MARSHALLINGERROR, path, null));
        }
        lostLists.remove(path);
        return new Listing(session, path, watcher);
    }

    private final class Listing extends Call<List<String>> implements AsyncCallback.ChildrenCallback {

        private final @Nullable Watcher watcher;

        Listing(Session session, String path, @Nullable Watcher watcher) {
            super(strand, session, Asked.ANY_SERVER, path);
            this.watcher = watcher;
        }

        @Override
        void send(ZooKeeper handle) {
            handle.getChildren(path(), watcher, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context, @Nullable List<String> names) {
            answered(code, names);
        }

        @Override
        void learn(Reply<List<String>> listed) {
            if (listed.code() == Code.CONNECTIONLOSS) {
                lost(path());
            }
        }
    }

    private void lost(String list) {
        if (lostLists.size() >= MOST_LOST_LISTS) {
            lostLists.clear();
        }
        lostLists.add(list);
    }

    /** Reads a node and watches its data and its end. A node that is not there is not watched. */
    Mono<Reply<byte[]>> watch(Session session, String path) {
        return new Reading(session, path);
    }

    private final class Reading extends Call<byte[]> implements AsyncCallback.DataCallback {

        private final Watcher watcher;

        Reading(Session session, String path) {
            super(strand, session, Asked.ANY_SERVER, path);
            watcher = session.watcher();
        }

        @Override
        void send(ZooKeeper handle) {
            handle.getData(path(), watcher, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context, byte @Nullable [] data, Stat stat) {
            answered(code, data);
        }
    }

    Mono<Reply<Stat>> stat(Session session, String path) {
        return new Existence(session, path, null);
    }

    /** A watch by which the session's own changes are heard of, whatever else is watched. */
    Mono<Reply<Stat>> hear(Session session) {
        return new Existence(session, Session.EAR, session.watcher());
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

    private final class Existence extends Call<Stat> implements AsyncCallback.StatCallback {

        private final @Nullable Watcher watcher;

        Existence(Session session, String path, @Nullable Watcher watcher) {
            super(strand, session, Asked.ANY_SERVER, path);
            this.watcher = watcher;
        }

        @Override
        void send(ZooKeeper handle) {
            handle.exists(path(), watcher, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context, @Nullable Stat stat) {
            answered(code, stat);
        }
    }

    /** Marks a node of ours as one that holds the lock, which those who watch it see. */
    Mono<Reply<Stat>> mark(Session session, String path) {
        return new Marking(session, path);
    }

    private final class Marking extends Call<Stat> implements AsyncCallback.StatCallback {

        Marking(Session session, String path) {
            super(strand, session, Asked.THE_LEADER, path);
        }

        @Override
        void send(ZooKeeper handle) {
            handle.setData(path(), HOLDS, ANY_VERSION, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context, @Nullable Stat stat) {
            answered(code, stat);
        }
    }

    Mono<Reply<Void>> delete(Session session, String path) {
        return new Deletion(session, path);
    }

    private final class Deletion extends Call<Void> implements AsyncCallback.VoidCallback {

        Deletion(Session session, String path) {
            super(strand, session, Asked.THE_LEADER, path);
        }

        @Override
        void send(ZooKeeper handle) {
            handle.delete(path(), ANY_VERSION, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context) {
            answered(code, null);
        }
    }

    /** What is read after this is not older than this. */
    Mono<Reply<Void>> sync(Session session, String path) {
        return new Syncing(session, path);
    }

    private final class Syncing extends Call<Void> implements AsyncCallback.VoidCallback {

        Syncing(Session session, String path) {
            super(strand, session, Asked.THE_LEADER, path);
        }

        @Override
        void send(ZooKeeper handle) {
            handle.sync(path(), this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context) {
            answered(code, null);
        }
    }

    /**
     * Whether the nodes are there, by a transaction that changes nothing. Unlike a read, which a server that was cut off from the others
     * goes on to answer for a while (up to {@code syncLimit} ticks), it is agreed on by a majority: it proves the session, too.
     *
     * @return a code for each, up to the first that is not there; {@code RUNTIMEINCONSISTENCY} for those after it
     */
    Mono<Reply<List<Code>>> check(Session session, List<String> paths) {
        return new Check(session, paths);
    }

    private final class Check extends Call<List<Code>> implements AsyncCallback.MultiCallback {

        private final List<String> paths;

        Check(Session session, List<String> paths) {
            super(strand, session, Asked.A_MAJORITY, paths.get(0));
            this.paths = paths;
        }

        @Override
        void send(ZooKeeper handle) {
            List<Op> checks =
                    paths.stream().map(path -> Op.check(path, ANY_VERSION)).toList();
            handle.multi(checks, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context, @Nullable List<OpResult> results) {
            answered(checked(code, paths, results == null ? List.of() : results));
        }
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
}
