package io.holdfast.zookeeper.internal.client;

import io.holdfast.zookeeper.internal.session.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** The calls of ZooKeeper's own client that {@link AsyncZooKeeper} makes. */
final class Calls {

    static final int ANY_VERSION = -1;

    private Calls() {}

    static final class Creation extends Call<AsyncZooKeeper.Created> implements AsyncCallback.Create2Callback {

        private final byte[] data;
        private final List<ACL> rights;
        private final CreateMode mode;

        Creation(
                SerialExecutor executor, Session session, String path, byte[] data, List<ACL> rights, CreateMode mode) {
            super(executor, session, AnsweredBy.QUORUM, path);
            this.data = data;
            this.rights = rights;
            this.mode = mode;
        }

        @Override
        void send(ZooKeeper handle) {
            handle.create(path(), data, rights, mode, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context, String name, @Nullable Stat stat) {
            answered(code, stat == null ? null : new AsyncZooKeeper.Created(name, stat.getCzxid()));
        }
    }

    static final class Listing extends Call<List<String>> implements AsyncCallback.ChildrenCallback {

        private final @Nullable Watcher watcher;
        private final Consumer<String> lost;

        Listing(
                SerialExecutor executor,
                Session session,
                String path,
                @Nullable Watcher watcher,
                Consumer<String> lost) {
            super(executor, session, AnsweredBy.ANY_SERVER, path);
            this.watcher = watcher;
            this.lost = lost;
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
                lost.accept(path());
            }
        }
    }

    static final class Reading extends Call<byte[]> implements AsyncCallback.DataCallback {

        private final Watcher watcher;

        Reading(SerialExecutor executor, Session session, String path) {
            super(executor, session, AnsweredBy.ANY_SERVER, path);
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

    static final class Fetching extends Call<AsyncZooKeeper.Content> implements AsyncCallback.DataCallback {

        Fetching(SerialExecutor executor, Session session, String path) {
            super(executor, session, AnsweredBy.ANY_SERVER, path);
        }

        @Override
        void send(ZooKeeper handle) {
            handle.getData(path(), false, this, null);
        }

        @Override
        public void processResult(
                int code, String asked, @Nullable Object context, byte @Nullable [] data, @Nullable Stat stat) {
            answered(
                    code,
                    data == null || stat == null
                            ? null
                            : new AsyncZooKeeper.Content(
                                    NodeData.owner(data),
                                    stat.getCzxid(),
                                    stat.getCtime(),
                                    NodeData.isOfAReader(data)));
        }
    }

    static final class Existence extends Call<Stat> implements AsyncCallback.StatCallback {

        private final @Nullable Watcher watcher;

        Existence(SerialExecutor executor, Session session, String path, @Nullable Watcher watcher) {
            super(executor, session, AnsweredBy.ANY_SERVER, path);
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

    static final class Marking extends Call<Stat> implements AsyncCallback.StatCallback {

        private final byte[] data;

        Marking(SerialExecutor executor, Session session, String path, byte[] data) {
            super(executor, session, AnsweredBy.QUORUM, path);
            this.data = data;
        }

        @Override
        void send(ZooKeeper handle) {
            handle.setData(path(), data, ANY_VERSION, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context, @Nullable Stat stat) {
            answered(code, stat);
        }
    }

    static final class Deletion extends Call<Void> implements AsyncCallback.VoidCallback {

        Deletion(SerialExecutor executor, Session session, String path) {
            super(executor, session, AnsweredBy.QUORUM, path);
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

    static final class Syncing extends Call<Void> implements AsyncCallback.VoidCallback {

        Syncing(SerialExecutor executor, Session session, String path) {
            super(executor, session, AnsweredBy.LEADER, path);
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

    /** Several operations in one transaction: all of them happen, or none. */
    static final class Several extends Call<Several.Outcome> implements AsyncCallback.MultiCallback {

        /**
         * The outcome of a transaction that a majority has seen.
         *
         * @param codes a code for each operation; {@code RUNTIMEINCONSISTENCY} for those after the first that is refused
         * @param written the node that was written last; null if none was written
         */
        record Outcome(List<Code> codes, @Nullable Stat written) {

            /** Returns the index of the refused operation; -1 if all of them happened. */
            int refused() {
                for (int i = 0; i < codes.size(); i++) {
                    if (codes.get(i) != Code.OK) {
                        return i;
                    }
                }
                return -1;
            }
        }

        private final List<Op> operations;

        Several(SerialExecutor executor, Session session, List<Op> operations) {
            super(executor, session, AnsweredBy.QUORUM, operations.get(0).getPath());
            this.operations = operations;
        }

        @Override
        void send(ZooKeeper handle) {
            handle.multi(operations, this, null);
        }

        @Override
        public void processResult(int code, String asked, @Nullable Object context, @Nullable List<OpResult> results) {
            answered(outcome(code, path(), operations.size(), results == null ? List.of() : results));
        }

        /** The leader checks the session with each of the operations, and reports there if the session is over. Then nothing is proved. */
        static Reply<Outcome> outcome(int code, String path, int operations, List<OpResult> results) {
            if (results.size() != operations) {
                return Reply.of(code, path, null);
            }
            List<Code> codes = new ArrayList<>(operations);
            Stat written = null;
            for (OpResult result : results) {
                Reply<Outcome> one = Reply.of(
                        result instanceof OpResult.ErrorResult error ? error.getErr() : Code.OK.intValue(), path, null);
                if (one.code() == Code.SESSIONEXPIRED || one.code() == Code.SESSIONMOVED) {
                    return one;
                }
                codes.add(one.code());
                written = result instanceof OpResult.SetDataResult set ? set.getStat() : written;
            }
            return new Reply<>(Code.OK, path, new Outcome(codes, written));
        }
    }
}
