package io.holdfast.proof.sim;

import io.holdfast.proof.sim.ZooServer.Answer;
import io.holdfast.proof.sim.ZooServer.Ask;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException.Code;

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
    private final List<ZooServer> followers;
    private final Map<String, Node> head = new HashMap<>();
    private final Map<String, Integer> sequences = new HashMap<>();
    private final SplittableRandom reaping;
    private final Map<Long, Session> sessions = new LinkedHashMap<>();

    /** From each server to each other one. */
    private final long[][] lastOnWay = new long[SERVERS][SERVERS];

    private long lastZxid = 100;
    private long lastSession = 0x1000;
    private long lastCommit;

    /** No session that goes on was heard of before that. */
    private long heardLeast;

    /** Whether empty queues are taken away. */
    private final boolean isReaping;

    Ensemble(World world, Network network, long timeoutNanos) {
        this.world = world;
        this.network = network;
        this.timeoutNanos = timeoutNanos;
        halfTickNanos = timeoutNanos / world.oneOf(2, 3, 4, 6) / 2;
        leaderRate = Clocks.rate(world);
        reaping = world.chancesOf("reaping", 0);
        isReaping = reaping.nextInt(3) == 0;
        servers = IntStream.rangeClosed(1, SERVERS)
                .mapToObj(i -> new ZooServer(world, this, i - 1, "zk" + i))
                .toList();
        followers = servers.subList(1, SERVERS);
        head.put("/", new Node(0, 0, 0, ""));
        servers.forEach(ZooServer::join);
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

    boolean isLedBy(ZooServer server) {
        return server == leader();
    }

    void toLeader(ZooServer from, Runnable task) {
        send(from, leader(), task);
    }

    void fromLeader(ZooServer to, Runnable task) {
        send(leader(), to, task);
    }

    /** From one server to another, in order. */
    private void send(ZooServer from, ZooServer to, Runnable task) {
        if (from == to) {
            task.run();
            return;
        }
        long[] last = lastOnWay[from.index()];
        long arrival = Math.max(last[to.index()] + 1, network.arrival(from.name(), to.name(), false));
        last[to.index()] = arrival;
        world.at(arrival, () -> to.receive(task));
    }

    /** Twice a tick; and it looks for sessions that have not been heard of. */
    private void ping() {
        leader().receive(this::pingFollowers);
        leader().receive(this::expire);
        if (isReaping) {
            leader().receive(this::reap);
        }
        world.after((long) (halfTickNanos / leaderRate), this::ping);
    }

    private void pingFollowers() {
        for (ZooServer server : followers) {
            send(leader(), server, () -> {
                List<Long> touched = server.takeTouched();
                send(server, leader(), () -> touched.forEach(this::heard));
            });
        }
    }

    /** Takes away containers that have become empty, as the original does now and then; their numbers begin again. */
    private void reap() {
        List<String> empty = new ArrayList<>();
        for (String queue : sequences.keySet()) {
            if (hasNoChild(queue + '/')) {
                empty.add(queue);
            }
        }
        Collections.sort(empty);
        for (String queue : empty) {
            if (reaping.nextBoolean()) {
                world.trace("    the leader takes %s away", queue);
                sequences.remove(queue);
                head.remove(queue);
                commit(++lastZxid, server -> server.remove(queue));
            }
        }
    }

    private boolean hasNoChild(String prefix) {
        for (String path : head.keySet()) {
            if (path.startsWith(prefix)) {
                return false;
            }
        }
        return true;
    }

    void heard(long id) {
        Session session = sessions.get(id);
        if (session != null && !session.isOver) {
            session.heardAt = world.now();
            heardLeast = Math.min(heardLeast, session.heardAt);
            // At the earliest moment: where a tick ends is a matter of chance.
            world.after((long) (timeoutNanos / leaderRate) + 1, () -> leader().receive(this::expire));
        }
    }

    private void expire() {
        if (!isOver(heardLeast)) {
            return;
        }
        heardLeast = Long.MAX_VALUE;
        sessions.forEach((id, session) -> {
            if (session.isOver) {
                return;
            }
            if (isOver(session.heardAt)) {
                end(id, session);
            } else {
                heardLeast = Math.min(heardLeast, session.heardAt);
            }
        });
    }

    private boolean isOver(long heardAt) {
        return (world.now() - heardAt) * leaderRate >= timeoutNanos;
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

    /** By the leader: a new session for 0, or one that goes on at that server; gives its number, or 0 if it is over. */
    long admit(long session, ZooServer at) {
        long granted = session;
        if (session == 0) {
            granted = ++lastSession;
            sessions.put(granted, new Session());
        } else if (alive(session) == null) {
            granted = 0;
        }
        heard(granted);
        if (granted != 0) {
            sessions.get(granted).owner = at;
            world.trace("    the leader hears that session %x is at %s", granted, at);
        }
        return granted;
    }

    /** By the leader: whether the session has connected to another server since. */
    boolean isElsewhere(long session, ZooServer server) {
        return sessions.get(session).owner != server;
    }

    /** By the leader: decides, and tells that server when it has applied it. */
    void write(Ask ask, ZooServer by, Consumer<Answer> done) {
        Written written = prepare(ask);
        Consumer<ZooServer> change = change(ask, written);
        long number = written.zxid() == 0 ? ++lastZxid : written.zxid();
        commit(number, server -> {
            change.accept(server);
            if (server == by) {
                done.accept(new Answer(
                        written.code(), written.path(), null, null, written.zxid(), ask.session(), written.codes(), 0));
            }
        });
    }

    /** By the leader: tells that server when it has all that is proposed now. */
    void behindWhatIsProposed(ZooServer by, Runnable done) {
        world.at(lastCommit, () -> leader().receive(() -> fromLeader(by, done)));
    }

    /** The leader is back: nobody's session has ended meanwhile, and all servers follow it anew. */
    void leadAgain() {
        servers.forEach(ZooServer::join);
        sessions.values().forEach(session -> session.heardAt = world.now());
    }

    Map<String, Node> nodes() {
        return head;
    }

    long lastZxid() {
        return lastZxid;
    }

    /** When another server has it, it is certain; then each applies it, in order. */
    private void commit(long zxid, Consumer<ZooServer> change) {
        long acknowledged = Long.MAX_VALUE;
        for (ZooServer server : followers) {
            long there = network.arrival(leader().name(), server.name(), false);
            acknowledged = Math.min(
                    acknowledged, there - world.now() + network.arrival(server.name(), leader().name(), false));
        }
        lastCommit = Math.max(lastCommit + 1, acknowledged);
        world.at(
                lastCommit,
                () -> leader().receive(() -> {
                    for (ZooServer server : servers) {
                        send(leader(), server, () -> server.apply(zxid, change));
                    }
                }));
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
                yield new Written(Code.OK, numbered(path, number), ++lastZxid, null);
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
                if (isReaping && reaping.nextBoolean()) {
                    world.after(reaping.nextLong(World.ms(1)), () -> leader().receive(this::reap));
                }
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

    private static String numbered(String path, int number) {
        String digits = Integer.toString(number);
        return path + "0".repeat(Math.max(0, 10 - digits.length())) + digits;
    }

    static String parentOf(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? "/" : path.substring(0, slash);
    }
}
