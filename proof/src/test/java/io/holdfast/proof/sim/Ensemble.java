package io.holdfast.proof.sim;

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
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * Three ZooKeeper servers, the first of which leads. Writes are prepared by the leader, wait until another server has them, and are applied by
 * each server in order, some time later. Reads are answered by the server that is asked, from what it has applied. The leader ends a session
 * that it has not heard of for its time-out, by its own clock: of those at another server it hears in the answers to its pings, twice a tick,
 * and when a client connects anew.
 */
public final class Ensemble {

    private static final int SERVERS = 3;

    /** A node; a changed one is another object. */
    record Node(long owner, long czxid, long changed, String data) {}

    /** What a write comes to. */
    record Written(Code code, String path, long zxid, List<Code> codes) {}

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

    private static final class Session {
        long heardAt;
        boolean isOver;

        /** Which server its last connection is to: what comes through another one is refused. */
        ZooServer owner;
    }

    private final World world;
    private final Network network;
    private final long timeoutNanos;
    private final long halfTickNanos;
    private final double leaderRate;
    private final List<ZooServer> servers;
    private final Map<String, Node> head = new HashMap<>();
    private final Map<String, Integer> sequences = new HashMap<>();
    private final Map<Long, Session> sessions = new LinkedHashMap<>();
    private final Map<String, Long> lastOnWay = new HashMap<>();
    private long lastZxid = 100;
    private long lastSession = 0x1000;
    private long lastCommit;

    Ensemble(World world, Network network, long timeoutNanos) {
        this.world = world;
        this.network = network;
        this.timeoutNanos = timeoutNanos;
        halfTickNanos = timeoutNanos / world.oneOf(2, 3, 4, 6) / 2;
        leaderRate = Clocks.rate(world);
        servers = IntStream.rangeClosed(1, SERVERS)
                .mapToObj(i -> new ZooServer("zk" + i))
                .toList();
        head.put("/", new Node(0, 0, 0, ""));
        servers.forEach(server -> server.tree.put("/", head.get("/")));
        world.after(halfTickNanos, this::ping);
    }

    public List<ZooServer> servers() {
        return servers;
    }

    public long timeoutNanos() {
        return timeoutNanos;
    }

    private ZooServer leader() {
        return servers.get(0);
    }

    /** All that is of a session, or of a queue. */
    List<String> leftovers() {
        return head.entrySet().stream()
                .filter(it -> it.getValue().owner() != 0)
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    /** From one server to another, in order. */
    private void send(ZooServer from, ZooServer to, Runnable task) {
        if (from == to) {
            task.run();
            return;
        }
        String way = from.name() + '>' + to.name();
        long arrival = Math.max(lastOnWay.getOrDefault(way, 0L) + 1, network.arrival(from.name(), to.name(), false));
        lastOnWay.put(way, arrival);
        world.at(arrival, () -> to.receive(task));
    }

    /** Twice a tick; and it looks for sessions that have not been heard of. */
    private void ping() {
        leader().receive(() -> servers.stream()
                .skip(1)
                .forEach(server -> send(leader(), server, () -> {
                    List<Long> touched = List.copyOf(server.touched);
                    server.touched.clear();
                    send(server, leader(), () -> touched.forEach(this::heard));
                })));
        leader().receive(this::expire);
        world.after((long) (halfTickNanos / leaderRate), this::ping);
    }

    private void heard(long id) {
        Session session = sessions.get(id);
        if (session != null && !session.isOver) {
            session.heardAt = world.now();
            // At the earliest moment: where a tick ends is a matter of chance.
            world.after((long) (timeoutNanos / leaderRate) + 1, () -> leader().receive(this::expire));
        }
    }

    private void expire() {
        sessions.forEach((id, session) -> {
            if (!session.isOver && (world.now() - session.heardAt) * leaderRate >= timeoutNanos) {
                end(id, session);
            }
        });
    }

    private void end(long id, Session session) {
        session.isOver = true;
        world.trace("    the leader ends session %x", id);
        List<String> owned = head.entrySet().stream()
                .filter(it -> it.getValue().owner() == id)
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
        owned.forEach(head::remove);
        commit(++lastZxid, server -> {
            owned.forEach(server::remove);
            server.sessionEnded(id);
        });
    }

    /** The leader looks whether the session would have ended by now, even if its own timer has not run. */
    private Session alive(long id) {
        expire();
        Session session = sessions.get(id);
        return session == null || session.isOver ? null : session;
    }

    /** When another server has it, it is certain; then each applies it, in order. */
    private void commit(long zxid, Consumer<ZooServer> change) {
        List<Long> acks = new ArrayList<>();
        for (ZooServer server : servers.subList(1, SERVERS)) {
            long there = network.arrival(leader().name(), server.name(), false);
            acks.add(there - world.now() + network.arrival(server.name(), leader().name(), false));
        }
        lastCommit =
                Math.max(lastCommit + 1, acks.stream().mapToLong(it -> it).min().orElseThrow());
        world.at(
                lastCommit,
                () -> leader().receive(() -> servers.forEach(server -> send(leader(), server, () -> {
                    if (zxid > server.zxid) { // one that has joined again may have it already
                        change.accept(server);
                        server.zxid = zxid;
                    }
                }))));
    }

    /** By the leader. */
    private Written prepare(Ask ask) {
        if (ask.session() != 0 && alive(ask.session()) == null) {
            return new Written(Code.SESSIONEXPIRED, ask.path(), 0, null);
        }
        String path = ask.path();
        return switch (ask.kind()) {
            case CREATE_SEQUENTIAL -> {
                String parent = parentOf(path);
                if (!head.containsKey(parent)) {
                    yield new Written(Code.NONODE, path, 0, null);
                }
                int number = sequences.merge(parent, 1, Integer::sum) - 1;
                yield new Written(Code.OK, path + "%010d".formatted(number), ++lastZxid, null);
            }
            case CREATE_CONTAINER -> {
                Code code = head.containsKey(path)
                        ? Code.NODEEXISTS
                        : head.containsKey(parentOf(path)) ? Code.OK : Code.NONODE;
                yield new Written(code, path, ++lastZxid, null);
            }
            case DELETE, SET -> new Written(head.containsKey(path) ? Code.OK : Code.NONODE, path, ++lastZxid, null);
            case CHECK -> {
                List<Code> codes = new ArrayList<>();
                boolean isOk = true;
                for (String one : ask.paths()) {
                    codes.add(!isOk ? Code.RUNTIMEINCONSISTENCY : head.containsKey(one) ? Code.OK : Code.NONODE);
                    isOk &= codes.get(codes.size() - 1) == Code.OK;
                }
                yield new Written(isOk ? Code.OK : Code.NONODE, path, ++lastZxid, codes);
            }
            default -> throw new IllegalStateException("no write: " + ask);
        };
    }

    private Consumer<ZooServer> change(Ask ask, Written written) {
        if (written.code() != Code.OK) {
            return server -> {};
        }
        String path = written.path();
        return switch (ask.kind()) {
            case CREATE_SEQUENTIAL, CREATE_CONTAINER -> {
                long owner = ask.kind() == Ask.Kind.CREATE_CONTAINER ? 0 : ask.session();
                Node node = new Node(owner, written.zxid(), written.zxid(), "");
                head.put(path, node);
                yield server -> server.put(path, node);
            }
            case DELETE -> {
                head.remove(path);
                yield server -> server.remove(path);
            }
            case SET -> {
                Node before = head.get(path);
                Node node = new Node(before.owner(), before.czxid(), written.zxid(), ask.data());
                head.put(path, node);
                yield server -> server.set(path, node);
            }
            default -> server -> {};
        };
    }

    private static String parentOf(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }

    /** One of the servers. */
    public final class ZooServer extends Server {

        private final TreeMap<String, Node> tree = new TreeMap<>();
        private final Set<Long> touched = new LinkedHashSet<>();
        private final Map<Wire, Connection> connections = new LinkedHashMap<>();
        private final Map<Long, Turns> turns = new HashMap<>();
        private long zxid = 100;

        ZooServer(String name) {
            super(Ensemble.this.world, name, 1, 0);
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
            send(this, leader(), () -> {
                long granted = session;
                if (session == 0) {
                    granted = ++lastSession;
                    sessions.put(granted, new Session());
                } else if (alive(session) == null) {
                    granted = 0;
                }
                heard(granted);
                if (granted != 0) {
                    sessions.get(granted).owner = this;
                    world.trace("    the leader hears that session %x is at %s", granted, this);
                }
                long id = granted;
                send(leader(), this, () -> {
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

        private final Map<String, Long> childChanges = new HashMap<>();

        /** The requests of one session are answered in order. */
        public void ask(Wire wire, Ask ask, Consumer<Answer> answer) {
            touched.add(ask.session());
            if (this == leader()) {
                heard(ask.session());
            }
            Connection connection = connections.get(wire);
            world.trace(
                    "    %s is asked by %x: %s %s%s",
                    this, ask.session(), ask.kind(), ask.path(), connection == null ? " in vain" : "");
            if (connection != null) {
                connection.turns.queue.add(() -> work(connection, ask, answer));
                connection.turns.next();
            }
        }

        private void work(Connection connection, Ask ask, Consumer<Answer> answer) {
            if (ask.isWrite()) {
                send(this, leader(), () -> {
                    if (sessions.get(ask.session()).owner != this) {
                        // As the server does since ZOOKEEPER-710: no answer, but the end of the connection.
                        send(leader(), this, () -> {
                            connections.remove(connection.wire);
                            dropTurns(ask.session());
                            connection.wire.cut();
                        });
                        return;
                    }
                    Written written = prepare(ask);
                    Consumer<ZooServer> change = change(ask, written);
                    long number = written.zxid() == 0 ? ++lastZxid : written.zxid();
                    commit(number, server -> {
                        change.accept(server);
                        if (server == this) {
                            reply(
                                    connection,
                                    answer,
                                    new Answer(
                                            written.code(),
                                            written.path(),
                                            null,
                                            null,
                                            written.zxid(),
                                            ask.session(),
                                            written.codes(),
                                            0));
                        }
                    });
                });
            } else if (ask.kind() == Ask.Kind.SYNC) {
                // Behind all that is proposed.
                send(
                        this,
                        leader(),
                        () -> world.at(
                                lastCommit,
                                () -> leader().receive(() -> send(
                                        leader(),
                                        this,
                                        () -> reply(connection, answer, Answer.of(Code.OK, ask.path()))))));
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
                names = tree.tailMap(prefix, false).keySet().stream()
                        .takeWhile(it -> it.startsWith(prefix))
                        .filter(it -> it.indexOf('/', prefix.length()) < 0)
                        .map(it -> it.substring(prefix.length()))
                        .toList();
            }
            return new Answer(Code.OK, ask.path(), names, node.data(), node.czxid(), node.owner(), null, 0);
        }

        private void put(String path, Node node) {
            tree.put(path, node);
            changedIn(path, node.czxid());
        }

        private void set(String path, Node node) {
            if (tree.replace(path, node) != null) {
                tellAll(EventType.NodeDataChanged, path, true, false);
            }
        }

        private void remove(String path) {
            if (tree.remove(path) != null) {
                tellAll(EventType.NodeDeleted, path, true, true);
                changedIn(path, Math.max(zxid + 1, childChanges.getOrDefault(parentOf(path), 0L)));
            }
        }

        private void changedIn(String path, long at) {
            childChanges.put(parentOf(path), at);
            tellAll(EventType.NodeChildrenChanged, parentOf(path), false, true);
        }

        private void tellAll(EventType type, String path, boolean data, boolean children) {
            connections.values().forEach(connection -> {
                boolean isData = data && connection.data.remove(path);
                boolean isChild = children && connection.children.remove(path);
                if (isData || isChild) {
                    connection.tell(type, path);
                }
            });
        }

        private void sessionEnded(long id) {
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
        private void join() {
            connections.values().forEach(connection -> connection.wire.cut());
            connections.clear();
            List.copyOf(turns.keySet()).forEach(this::dropTurns);
            tree.clear();
            tree.putAll(head);
            zxid = lastZxid;
        }

        @Override
        public void start() {
            boolean wasUp = isUp();
            super.start();
            if (!wasUp) {
                join();
                if (this == leader()) {
                    servers.forEach(ZooServer::join);
                    sessions.values().forEach(session -> session.heardAt = world.now());
                }
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
