package io.holdfast.proof.sim;

import io.holdfast.proof.sim.ZooTree.Node;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;

/** One server of an {@link Ensemble}, as its clients see it: its connections, requests and watches. */
public final class ZooServer extends Server implements ZooTree.Observer {

    /** The answer of a server. */
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

    /** The request of a client. */
    public record Ask(Kind kind, String path, long session, String data, List<String> paths, boolean isWatched) {

        /** The requests that our back end sends. */
        public enum Kind {
            CREATE_SEQUENTIAL,
            CREATE_CONTAINER,
            BEGIN,
            DELETE,
            DELETE_ALL,
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
                case CREATE_SEQUENTIAL, CREATE_CONTAINER, BEGIN, DELETE, DELETE_ALL, SET, CHECK -> true;
                case EXISTS, GET, LIST, SYNC, PING -> false;
            };
        }
    }

    /** Receives the events of one connection. */
    public interface Client {

        void event(EventType type, String path);
    }

    private final ZooPeer peer;
    private final ZooTree tree;
    private final Set<Long> touched = new LinkedHashSet<>();
    private final Map<Wire, Connection> connections = new LinkedHashMap<>();
    private final Map<Long, Turns> turns = new HashMap<>();

    ZooServer(World world, Ensemble ensemble, int index, String name) {
        super(world, name, 1, 0);
        peer = new ZooPeer(ensemble, this, index, Clocks.rate(world));
        tree = peer.tree();
    }

    ZooPeer peer() {
        return peer;
    }

    /** Returns whether it leads, or believes that it does. */
    boolean leads() {
        return peer.leadership() != null;
    }

    /** Returns the sessions with a message since the last call. */
    List<Long> takeTouched() {
        if (touched.isEmpty()) {
            return List.of();
        }
        List<Long> all = List.copyOf(touched);
        touched.clear();
        return all;
    }

    /** Sends to the leader, in order. The message is lost if there is no leader any more when it arrives. */
    private void toLeader(Consumer<Leadership> task) {
        Leadership own = peer.leadership();
        FollowerLink link = peer.link();
        if (own != null) {
            task.accept(own);
        } else if (link != null) {
            link.toLeader(() -> task.accept(link.leadership()));
        }
    }

    /** Connects a client: with a new session for 0, otherwise with a session that the leader must know. Returns the session, or 0. */
    public void connect(Wire wire, long session, long seenZxid, Client client, Consumer<Long> answer) {
        // Without a leader it serves no client. With an older state, the client would go back in time.
        if (!peer.serves() || seenZxid > tree.zxid()) {
            wire.toClient(() -> answer.accept(-1L));
            return;
        }
        // A client that is back has closed its former connection: requests still under way there are not read any
        // more.
        connections.values().removeIf(it -> session != 0 && it.session == session);
        // The original forwards all at once, so these requests would be ahead of this one, or be refused.
        dropTurns(session);
        if (session == 0) {
            toLeader(leader -> leader.begin(this, begun -> connected(wire, begun, client, answer)));
        } else {
            toLeader(leader -> {
                long id = leader.goesOn(session, this) ? session : 0;
                leader.tell(this, () -> connected(wire, id, client, answer));
            });
        }
    }

    private void connected(Wire wire, long id, Client client, Consumer<Long> answer) {
        if (id != 0) {
            connections.put(wire, new Connection(wire, id, client, turns.computeIfAbsent(id, it -> new Turns())));
        }
        wire.toClient(() -> answer.accept(id));
    }

    /** Drops the waiting requests of a session. */
    private void dropTurns(long session) {
        Turns dropped = turns.remove(session);
        if (dropped != null) {
            dropped.queue.clear();
        }
    }

    /** Sends the events that the client has missed since then, for the watches that it sets again. */
    public void watchAgain(Wire wire, List<String> data, List<String> absent, List<String> children, long since) {
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
        for (String path : absent) {
            if (tree.has(path)) {
                connection.tell(EventType.NodeCreated, path);
            } else {
                connection.data.add(path);
            }
        }
        for (String path : children) {
            if (!tree.has(path)) {
                connection.tell(EventType.NodeDeleted, path);
            } else if (tree.childrenChanged(path) > since) {
                connection.tell(EventType.NodeChildrenChanged, path);
            } else {
                connection.children.add(path);
            }
        }
    }

    /** The requests of one session are answered in order. */
    public void ask(Wire wire, Ask ask, Consumer<Answer> answer) {
        Leadership own = peer.leadership();
        if (own != null) {
            own.heard(ask.session());
        } else {
            touched.add(ask.session());
        }
        Connection connection = connections.get(wire);
        if (world.isTraced()) {
            world.trace(
                    "    %s gets from %x: %s %s%s",
                    this, ask.session(), ask.kind(), ask.path(), connection == null ? " in vain" : "");
        }
        if (connection != null) {
            connection.turns.queue.add(() -> work(connection, ask, answer));
            connection.turns.next();
        }
    }

    private void work(Connection connection, Ask ask, Consumer<Answer> answer) {
        if (ask.isWrite()) {
            toLeader(leader -> {
                if (leader.isElsewhere(ask.session(), this)) {
                    // As the server does since ZOOKEEPER-710: no answer, but the end of the connection.
                    leader.tell(this, () -> {
                        connections.remove(connection.wire);
                        dropTurns(ask.session());
                        connection.wire.cut();
                    });
                } else {
                    leader.write(ask, this, written -> reply(connection, answer, written));
                }
            });
        } else if (ask.kind() == Ask.Kind.SYNC) {
            toLeader(leader -> leader.afterCurrentProposals(
                    this, () -> reply(connection, answer, Answer.of(Code.OK, ask.path()))));
        } else {
            reply(connection, answer, read(connection, ask));
        }
    }

    private void reply(Connection connection, Consumer<Answer> to, Answer answer) {
        if (world.isTraced()
                && answer.path() != null
                && !answer.path().equals("/")
                && !answer.path().endsWith("/watched")) {
            world.trace("    %s answers %x: %s", name(), connection.session, answer);
        }
        Answer stamped = answer.at(tree.zxid());
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
        List<String> names = ask.kind() == Ask.Kind.LIST ? tree.children(ask.path()) : null;
        return new Answer(Code.OK, ask.path(), names, node.data(), node.czxid(), node.owner(), null, 0);
    }

    @Override
    public void changed(EventType type, String path, boolean ofNode, boolean ofChildren) {
        for (Connection connection : connections.values()) {
            boolean isData = ofNode && connection.data.remove(path);
            boolean isChild = ofChildren && connection.children.remove(path);
            if (isData || isChild) {
                connection.tell(type, path);
            }
        }
    }

    @Override
    public void sessionEnded(long id) {
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

    /** Restarts with the data of its disk. It gets the later transactions when it follows or leads again. */
    @Override
    protected void forget(boolean dataToo) {
        peer.died(world.chance(0.8));
    }

    /** Closes the connections of all clients that are connected, or about to be. */
    void closeClients() {
        List.copyOf(wires()).forEach(Wire::closeByServer);
        connections.clear();
        List.copyOf(turns.keySet()).forEach(this::dropTurns);
        touched.clear();
    }

    @Override
    public void start() {
        boolean wasUp = isUp();
        super.start();
        if (!wasUp) {
            peer.started();
        }
    }

    /** Processes the requests of one session at one server one after the other, also over several connections. */
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
