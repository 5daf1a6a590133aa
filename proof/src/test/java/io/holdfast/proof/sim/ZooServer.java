package io.holdfast.proof.sim;

import io.holdfast.proof.sim.Ensemble.Node;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;

/** One server of an {@link Ensemble}: what it has applied, who is connected to it, and what they watch. */
public final class ZooServer extends Server {

    /** What one server answers. */
    public record Answer(
            Code code,
            String path,
            List<String> names,
            String data,
            long czxid,
            long owner,
            List<Code> codes,
            long seen) {

        public static Answer of(Code code, String path) {
            return new Answer(code, path, null, null, 0, 0, null, 0);
        }

        Answer at(long zxid) {
            return new Answer(code, path, names, data, czxid, owner, codes, zxid);
        }
    }

    /** What a client asks. */
    public record Ask(Kind kind, String path, long session, String data, List<String> paths, boolean isWatched) {

        /** The requests that our back end sends. */
        public enum Kind {
            CREATE_SEQUENTIAL,
            CREATE_CONTAINER,
            DELETE,
            SET,
            CHECK,
            EXISTS,
            GET,
            LIST,
            SYNC,
            PING
        }

        boolean isWrite() {
            return switch (kind) {
                case CREATE_SEQUENTIAL, CREATE_CONTAINER, DELETE, SET, CHECK -> true;
                case EXISTS, GET, LIST, SYNC, PING -> false;
            };
        }
    }

    /** Told what happens to one connection. */
    public interface Client {

        void event(EventType type, String path);
    }

    private final Ensemble ensemble;
    private final int index;
    private final TreeMap<String, Node> tree = new TreeMap<>();
    private final Map<String, Long> childChanges = new HashMap<>();
    private final Set<Long> touched = new LinkedHashSet<>();
    private final Map<Wire, Connection> connections = new LinkedHashMap<>();
    private final Map<Long, Turns> turns = new HashMap<>();
    private long zxid = 100;

    ZooServer(World world, Ensemble ensemble, int index, String name) {
        super(world, name, 1, 0);
        this.index = index;
        this.ensemble = ensemble;
    }

    int index() {
        return index;
    }

    /** Applies a transaction, unless it has it already, as one that has joined again may. */
    void apply(long number, Consumer<ZooServer> change) {
        if (number > zxid) {
            change.accept(this);
            zxid = number;
        }
    }

    /** The sessions that it has heard of since it was asked last. */
    List<Long> takeTouched() {
        if (touched.isEmpty()) {
            return List.of();
        }
        List<Long> all = List.copyOf(touched);
        touched.clear();
        return all;
    }

    public long zxid() {
        return zxid;
    }

    /** A client connects: with a new session for 0, else with one that the leader has to know. Gives the session, or 0. */
    public void connect(Wire wire, long session, long seenZxid, Client client, Consumer<Long> answer) {
        if (seenZxid > zxid) {
            wire.toClient(() -> answer.accept(-1L)); // it would go back in time
            return;
        }
        // A client that is back has given up its former connection: what that has not brought yet is not read any
        // more.
        connections.values().removeIf(it -> session != 0 && it.session == session);
        // The original forwards all at once, so these would be ahead of this, or be refused.
        dropTurns(session);
        ensemble.toLeader(this, () -> {
            long id = ensemble.admit(session, this);
            ensemble.fromLeader(this, () -> {
                if (id != 0) {
                    connections.put(
                            wire, new Connection(wire, id, client, turns.computeIfAbsent(id, it -> new Turns())));
                }
                wire.toClient(() -> answer.accept(id));
            });
        });
    }

    /** Those that wait there are not worked on any more. */
    private void dropTurns(long session) {
        Turns dropped = turns.remove(session);
        if (dropped != null) {
            dropped.queue.clear();
        }
    }

    /** Events since then that the client has missed: it tells what it watches. */
    public void watchAgain(Wire wire, List<String> data, List<String> children, long since) {
        Connection connection = connections.get(wire);
        if (connection == null) {
            return;
        }
        for (String path : data) {
            Node node = tree.get(path);
            if (node == null) {
                connection.tell(EventType.NodeDeleted, path);
            } else if (node.changed() > since) {
                connection.tell(EventType.NodeDataChanged, path);
            } else {
                connection.data.add(path);
            }
        }
        for (String path : children) {
            if (!tree.containsKey(path)) {
                connection.tell(EventType.NodeDeleted, path);
            } else if (childChanges.getOrDefault(path, 0L) > since) {
                connection.tell(EventType.NodeChildrenChanged, path);
            } else {
                connection.children.add(path);
            }
        }
    }

    /** The requests of one session are answered in order. */
    public void ask(Wire wire, Ask ask, Consumer<Answer> answer) {
        touched.add(ask.session());
        if (ensemble.isLedBy(this)) {
            ensemble.heard(ask.session());
        }
        Connection connection = connections.get(wire);
        if (world.isTraced()) {
            world.trace(
                    "    %s is asked by %x: %s %s%s",
                    this, ask.session(), ask.kind(), ask.path(), connection == null ? " in vain" : "");
        }
        if (connection != null) {
            connection.turns.queue.add(() -> work(connection, ask, answer));
            connection.turns.next();
        }
    }

    private void work(Connection connection, Ask ask, Consumer<Answer> answer) {
        if (ask.isWrite()) {
            ensemble.toLeader(this, () -> {
                if (ensemble.isElsewhere(ask.session(), this)) {
                    // As the server does since ZOOKEEPER-710: no answer, but the end of the connection.
                    ensemble.fromLeader(this, () -> {
                        connections.remove(connection.wire);
                        dropTurns(ask.session());
                        connection.wire.cut();
                    });
                } else {
                    ensemble.write(ask, this, written -> reply(connection, answer, written));
                }
            });
        } else if (ask.kind() == Ask.Kind.SYNC) {
            ensemble.toLeader(
                    this,
                    () -> ensemble.behindWhatIsProposed(
                            this, () -> reply(connection, answer, Answer.of(Code.OK, ask.path()))));
        } else {
            reply(connection, answer, read(connection, ask));
        }
    }

    private void reply(Connection connection, Consumer<Answer> to, Answer answer) {
        if (world.isTraced() && answer.path() != null && !answer.path().equals("/")) {
            world.trace("    %s answers %x: %s", name(), connection.session, answer);
        }
        Answer stamped = answer.at(zxid);
        connection.wire.toClient(() -> to.accept(stamped));
        connection.turns.isBusy = false;
        connection.turns.next();
    }

    private Answer read(Connection connection, Ask ask) {
        if (ask.kind() == Ask.Kind.PING) {
            return Answer.of(Code.OK, null);
        }
        Node node = tree.get(ask.path());
        boolean isThere = node != null;
        if (ask.isWatched() && (isThere || ask.kind() == Ask.Kind.EXISTS)) {
            (ask.kind() == Ask.Kind.LIST ? connection.children : connection.data).add(ask.path());
        }
        if (!isThere) {
            return Answer.of(Code.NONODE, ask.path());
        }
        List<String> names = null;
        if (ask.kind() == Ask.Kind.LIST) {
            String prefix = ask.path().equals("/") ? "/" : ask.path() + '/';
            names = new ArrayList<>();
            for (String one : tree.tailMap(prefix, false).keySet()) {
                if (!one.startsWith(prefix)) {
                    break;
                }
                if (one.indexOf('/', prefix.length()) < 0) {
                    names.add(one.substring(prefix.length()));
                }
            }
        }
        return new Answer(Code.OK, ask.path(), names, node.data(), node.czxid(), node.owner(), null, 0);
    }

    void put(String path, Node node) {
        tree.put(path, node);
        changedIn(path, node.czxid());
    }

    void set(String path, Node node) {
        if (tree.replace(path, node) != null) {
            tellAll(EventType.NodeDataChanged, path, true, false);
        }
    }

    void remove(String path) {
        if (tree.remove(path) != null) {
            tellAll(EventType.NodeDeleted, path, true, true);
            changedIn(path, Math.max(zxid + 1, childChanges.getOrDefault(Ensemble.parentOf(path), 0L)));
        }
    }

    private void changedIn(String path, long at) {
        childChanges.put(Ensemble.parentOf(path), at);
        tellAll(EventType.NodeChildrenChanged, Ensemble.parentOf(path), false, true);
    }

    private void tellAll(EventType type, String path, boolean data, boolean children) {
        for (Connection connection : connections.values()) {
            boolean isData = data && connection.data.remove(path);
            boolean isChild = children && connection.children.remove(path);
            if (isData || isChild) {
                connection.tell(type, path);
            }
        }
    }

    void sessionEnded(long id) {
        dropTurns(id);
        connections.values().removeIf(connection -> {
            if (connection.session == id) {
                connection.wire.cut();
            }
            return connection.session == id;
        });
    }

    @Override
    protected void lost(Wire wire) {
        connections.remove(wire);
    }

    /** What it had on its disk it has; what the others have meanwhile, it gets when it is up. */
    @Override
    protected void forget(boolean dataToo) {
        connections.clear();
        List.copyOf(turns.keySet()).forEach(this::dropTurns);
        touched.clear();
    }

    /** It gets all that it has missed before anybody may connect. */
    void join() {
        connections.values().forEach(connection -> connection.wire.cut());
        connections.clear();
        List.copyOf(turns.keySet()).forEach(this::dropTurns);
        tree.clear();
        tree.putAll(ensemble.nodes());
        zxid = ensemble.lastZxid();
    }

    @Override
    public void start() {
        boolean wasUp = isUp();
        super.start();
        if (!wasUp) {
            join();
            if (ensemble.isLedBy(this)) {
                ensemble.leadAgain();
            }
        }
    }

    /** The requests of one session at one server are worked on one after the other, on whichever connection they came. */
    private static final class Turns {

        final Deque<Runnable> queue = new ArrayDeque<>();
        boolean isBusy;

        void next() {
            if (!isBusy && !queue.isEmpty()) {
                isBusy = true;
                queue.poll().run();
            }
        }
    }

    private static final class Connection {

        final Wire wire;
        final long session;
        final Client client;
        final Set<String> data = new LinkedHashSet<>();
        final Set<String> children = new LinkedHashSet<>();
        final Turns turns;

        Connection(Wire wire, long session, Client client, Turns turns) {
            this.wire = wire;
            this.session = session;
            this.client = client;
            this.turns = turns;
        }

        void tell(EventType type, String path) {
            wire.toClient(() -> client.event(type, path));
        }
    }
}
