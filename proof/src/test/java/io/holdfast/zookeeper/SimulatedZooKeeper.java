package io.holdfast.zookeeper;

import io.holdfast.proof.sim.Ensemble;
import io.holdfast.proof.sim.Host;
import io.holdfast.proof.sim.Network;
import io.holdfast.proof.sim.Wire;
import io.holdfast.proof.sim.World;
import io.holdfast.proof.sim.ZooServer;
import io.holdfast.proof.sim.ZooServer.Answer;
import io.holdfast.proof.sim.ZooServer.Ask;
import io.holdfast.proof.sim.ZooServer.Ask.Kind;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import reactor.core.Disposable;

/**
 * A handle with a simulated connection that behaves like the driver's. It pings when it has sent nothing for a third of the time-out. It leaves a
 * server that has sent nothing for two thirds. It tries another server after a pause of up to a second, and sets its watches again when it is
 * connected. Our back end uses one watcher.
 */
final class SimulatedZooKeeper extends ZooKeeper {

    private static final Constructor<?> NONE = none();

    private static final byte[] NO_DATA = {};

    private static final ZKClientConfig DEFAULTS = new ZKClientConfig();

    /** A request. Two equal requests are different objects. */
    private static final class Request {

        final Ask ask;
        final Consumer<Answer> answer;

        Request(Ask ask, Consumer<Answer> answer) {
            this.ask = ask;
            this.answer = answer;
        }
    }

    // Set by open(): no constructor runs, since the driver's would start threads and open a selector.
    private Host host;
    private World world;
    private Network network;
    private Ensemble ensemble;
    private boolean asksMajorities;
    private Runnable connected;
    private Runnable expired;
    private Deque<Request> outgoing;
    private Deque<Request> sent;
    private Set<String> data;
    private Set<String> absent;
    private Set<String> children;
    private Set<Watcher> watchers;
    private ZooServer server;
    private Wire wire;
    private States state;
    private long session;
    private long seenZxid;
    private long heardAt;
    private long sentAt;
    private int connections;

    private SimulatedZooKeeper() throws IOException {
        super("nowhere", 1, event -> {});
    }

    /**
     * Makes a handle that is about to connect.
     *
     * @param wrong the mutant, whose mistake may be in a request
     * @param connected runs after each connect
     * @param expired runs when its session has ended
     */
    static SimulatedZooKeeper open(
            Host host, Network network, Ensemble ensemble, WrongPart wrong, Runnable connected, Runnable expired) {
        SimulatedZooKeeper made = unconstructed();
        made.host = host;
        made.world = host.world();
        made.network = network;
        made.ensemble = ensemble;
        made.asksMajorities = wrong != WrongPart.PROOF_WITHOUT_A_MAJORITY;
        made.connected = connected;
        made.expired = expired;
        made.outgoing = new ArrayDeque<>();
        made.sent = new ArrayDeque<>();
        made.data = new LinkedHashSet<>();
        made.absent = new LinkedHashSet<>();
        made.children = new LinkedHashSet<>();
        made.watchers = new LinkedHashSet<>();
        made.dial();
        return made;
    }

    private static SimulatedZooKeeper unconstructed() {
        try {
            return (SimulatedZooKeeper) NONE.newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a constructor that runs neither that of this class nor the driver's, which would start threads. */
    private static Constructor<?> none() {
        try {
            Class<?> factory = Class.forName("sun.reflect.ReflectionFactory");
            Object maker = factory.getMethod("getReflectionFactory").invoke(null);
            return (Constructor<?>) factory.getMethod("newConstructorForSerialization", Class.class, Constructor.class)
                    .invoke(maker, SimulatedZooKeeper.class, Object.class.getDeclaredConstructor());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private long timeout() {
        return ensemble.timeoutNanos();
    }

    private void later(long nanos, Runnable task) {
        Disposable unused = host.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    private void dial() {
        if (state == States.CLOSED) {
            return;
        }
        state = States.CONNECTING;
        int mine = ++connections;
        server = world.oneOf(ensemble.servers());
        ZooServer to = server;
        Wire next = new Wire(network, host, to);
        wire = next;
        next.atCut(() -> lost(mine));
        if (!to.isUp()) {
            lost(mine);
            return;
        }
        long asked = session;
        long seen = seenZxid;
        next.toServer(() -> to.connect(next, asked, seen, (type, path) -> happened(mine, type, path), granted -> {
            if (mine == connections) {
                answered(mine, granted);
            }
        }));
        later(timeout() / 3, () -> {
            if (mine == connections && state == States.CONNECTING) {
                lost(mine);
            }
        });
    }

    private void answered(int mine, long granted) {
        if (granted < 0) {
            lost(mine);
        } else if (granted == 0) {
            wire.close();
            connections++;
            state = States.CLOSED;
            failAll(Code.SESSIONEXPIRED);
            tell(KeeperState.Expired);
            expired.run();
        } else {
            session = granted;
            state = States.CONNECTED;
            world.trace("  %s is connected to %s", host, server);
            heardAt = host.nanoTime();
            sentAt = heardAt;
            List<String> watchedData = List.copyOf(data);
            List<String> watchedAbsent = List.copyOf(absent);
            List<String> watchedChildren = List.copyOf(children);
            Wire used = wire;
            ZooServer at = server;
            long since = seenZxid;
            used.toServer(() -> at.watchAgain(used, watchedData, watchedAbsent, watchedChildren, since));
            tell(KeeperState.SyncConnected);
            connected.run();
            List<Request> waiting = List.copyOf(outgoing);
            outgoing.clear();
            waiting.forEach(this::send);
            beat(mine);
        }
    }

    /** The driver's thread checks its clock. */
    private void beat(int mine) {
        if (mine != connections || state != States.CONNECTED) {
            return;
        }
        long now = host.nanoTime();
        if (now - heardAt >= timeout() * 2 / 3) {
            lost(mine);
            return;
        }
        if (now - sentAt >= timeout() / 3) {
            send(new Request(new Ask(Kind.PING, null, session, null, null, false), answer -> {}));
        }
        later(
                Math.max(1_000_000, Math.min(timeout() / 3 - (now - sentAt), timeout() * 2 / 3 - (now - heardAt))),
                () -> beat(mine));
    }

    private void lost(int mine) {
        if (mine != connections) {
            return;
        }
        connections++;
        boolean was = state == States.CONNECTED;
        state = States.CONNECTING;
        wire.close();
        failAll(Code.CONNECTIONLOSS);
        if (was) {
            world.trace("  %s has lost %s", host, server);
            tell(KeeperState.Disconnected);
        }
        later(world.between(0, World.ms(1_000)), this::dial);
    }

    private void failAll(Code code) {
        List<Request> all = new ArrayList<>(sent);
        all.addAll(outgoing);
        sent.clear();
        outgoing.clear();
        all.forEach(request -> request.answer.accept(Answer.of(code, request.ask.path())));
    }

    private void tell(KeeperState change) {
        List.copyOf(watchers).forEach(watcher -> watcher.process(new WatchedEvent(EventType.None, change, null)));
    }

    private void happened(int mine, EventType type, String path) {
        if (mine != connections) {
            return;
        }
        heardAt = host.nanoTime();
        boolean isAbsent = type != EventType.NodeChildrenChanged && absent.remove(path);
        boolean isData = type != EventType.NodeChildrenChanged && data.remove(path);
        boolean isChild = type != EventType.NodeDataChanged && children.remove(path);
        if (isAbsent || isData || isChild) {
            List.copyOf(watchers)
                    .forEach(watcher -> watcher.process(new WatchedEvent(type, KeeperState.SyncConnected, path)));
        }
    }

    private void ask(
            Kind kind, String path, byte[] body, List<String> paths, boolean watches, Consumer<Answer> answer) {
        Request request = new Request(new Ask(kind, path, session, text(body), paths, watches), answer);
        if (state == States.CLOSED) {
            later(0, () -> answer.accept(Answer.of(Code.SESSIONEXPIRED, path)));
        } else if (state == States.CONNECTED) {
            send(request);
        } else {
            outgoing.add(request);
        }
    }

    private void send(Request request) {
        int mine = connections;
        Wire used = wire;
        ZooServer at = server;
        sentAt = host.nanoTime();
        sent.add(request);
        used.toServer(() -> at.ask(used, request.ask, answer -> {
            if (mine == connections && sent.remove(request)) {
                heardAt = host.nanoTime();
                seenZxid = Math.max(seenZxid, answer.seen());
                if (request.ask.isWatched()
                        && (answer.code() == Code.OK
                                || (request.ask.kind() == Kind.EXISTS && answer.code() == Code.NONODE))) {
                    watchedAs(request.ask.kind(), answer.code()).add(answer.path());
                }
                request.answer.accept(answer);
            }
        }));
    }

    private Set<String> watchedAs(Kind kind, Code answer) {
        if (answer == Code.NONODE) {
            return absent;
        }
        return kind == Kind.LIST ? children : data;
    }

    private boolean watches(Watcher watcher) {
        if (watcher != null) {
            watchers.add(watcher);
        }
        return watcher != null;
    }

    private static String text(byte[] body) {
        return body == null ? null : new String(body, StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static Stat stat(Answer answer) {
        if (answer.code() != Code.OK) {
            return null;
        }
        Stat stat = new Stat();
        stat.setCzxid(answer.czxid());
        stat.setEphemeralOwner(answer.owner());
        return stat;
    }

    @Override
    public void create(
            String path,
            byte[] body,
            List<ACL> rights,
            CreateMode mode,
            AsyncCallback.Create2Callback callback,
            Object context) {
        Kind kind = mode == CreateMode.CONTAINER ? Kind.CREATE_CONTAINER : Kind.CREATE_SEQUENTIAL;
        ask(
                kind,
                path,
                body,
                null,
                false,
                it -> callback.processResult(it.code().intValue(), path, context, it.path(), stat(it)));
    }

    @Override
    public void getChildren(String path, Watcher watcher, AsyncCallback.ChildrenCallback callback, Object context) {
        ask(
                Kind.LIST,
                path,
                null,
                null,
                watches(watcher),
                it -> callback.processResult(it.code().intValue(), path, context, it.names()));
    }

    @Override
    public void getData(String path, Watcher watcher, AsyncCallback.DataCallback callback, Object context) {
        ask(
                Kind.GET,
                path,
                null,
                null,
                watches(watcher),
                it -> callback.processResult(it.code().intValue(), path, context, bytes(it.data()), stat(it)));
    }

    @Override
    public void exists(String path, Watcher watcher, AsyncCallback.StatCallback callback, Object context) {
        ask(
                Kind.EXISTS,
                path,
                null,
                null,
                watches(watcher),
                it -> callback.processResult(it.code().intValue(), path, context, stat(it)));
    }

    @Override
    public void setData(String path, byte[] body, int version, AsyncCallback.StatCallback callback, Object context) {
        ask(
                Kind.SET,
                path,
                body,
                null,
                false,
                it -> callback.processResult(it.code().intValue(), path, context, stat(it)));
    }

    @Override
    public void delete(String path, int version, AsyncCallback.VoidCallback callback, Object context) {
        ask(
                Kind.DELETE,
                path,
                null,
                null,
                false,
                it -> callback.processResult(it.code().intValue(), path, context));
    }

    @Override
    public void sync(String path, AsyncCallback.VoidCallback callback, Object context) {
        ask(
                Kind.SYNC,
                path,
                null,
                null,
                false,
                it -> callback.processResult(it.code().intValue(), path, context));
    }

    @Override
    public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
        List<String> paths = new ArrayList<>();
        operations.forEach(operation -> paths.add(operation.getPath()));
        int type = operations.iterator().next().getType();
        if (type == ZooDefs.OpCode.createContainer) {
            begin(paths, callback, context);
            return;
        }
        Consumer<Answer> checked =
                it -> callback.processResult(it.code().intValue(), paths.get(0), context, refusals(it));
        if (type == ZooDefs.OpCode.delete) {
            ask(Kind.DELETE_ALL, paths.get(0), null, paths, false, checked);
        } else if (asksMajorities) {
            ask(Kind.CHECK, paths.get(0), null, paths, false, checked);
        } else {
            ask(Kind.SYNC, paths.get(0), null, null, false, it -> {});
            askOneByOne(paths, new ArrayList<>(), checked);
        }
    }

    private void begin(List<String> paths, AsyncCallback.MultiCallback callback, Object context) {
        ask(Kind.BEGIN, paths.get(1), NO_DATA, null, false, it -> {
            List<OpResult> results = it.code() != Code.OK
                    ? refusals(it)
                    : List.of(
                            new OpResult.CreateResult(paths.get(0)),
                            new OpResult.CreateResult(paths.get(1)),
                            new OpResult.SetDataResult(stat(it)));
            callback.processResult(it.code().intValue(), paths.get(0), context, results);
        });
    }

    private static List<OpResult> refusals(Answer answer) {
        return answer.codes() == null
                ? null
                : answer.codes().stream()
                        .map(code -> code == Code.OK && answer.code() == Code.OK
                                ? new OpResult.CheckResult()
                                : (OpResult) new OpResult.ErrorResult(code.intValue()))
                        .toList();
    }

    /** Reads the nodes one after the other, from the connected server. */
    private void askOneByOne(List<String> paths, List<Code> found, Consumer<Answer> checked) {
        String path = paths.get(found.size());
        ask(Kind.EXISTS, path, null, null, false, it -> {
            found.add(it.code());
            if (it.code() == Code.OK && found.size() < paths.size()) {
                askOneByOne(paths, found, checked);
            } else {
                boolean isAnswered = it.code() == Code.OK || it.code() == Code.NONODE;
                while (isAnswered && found.size() < paths.size()) {
                    found.add(Code.RUNTIMEINCONSISTENCY);
                }
                checked.accept(new Answer(it.code(), path, null, null, 0, session, isAnswered ? found : null, 0));
            }
        });
    }

    @Override
    public void removeWatches(
            String path,
            Watcher watcher,
            Watcher.WatcherType type,
            boolean local,
            AsyncCallback.VoidCallback callback,
            Object context) {
        watchers.remove(watcher);
    }

    @Override
    public synchronized void close() {
        throw new UnsupportedOperationException("it is borrowed");
    }

    @Override
    public States getState() {
        return state;
    }

    @Override
    public long getSessionId() {
        return session;
    }

    @Override
    public ZKClientConfig getClientConfig() {
        return DEFAULTS;
    }

    @Override
    public int getSessionTimeout() {
        return (int) (timeout() / 1_000_000);
    }

    @Override
    public String toString() {
        return "simulated handle of " + host;
    }
}
