package io.holdfast.zookeeper;

import io.holdfast.testkit.server.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.metrics.impl.DefaultMetricsProvider;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A real ZooKeeper server in this JVM, with its own files. Tests can read its internal state. */
final class Server implements AutoCloseable {

    /** Short, so that sessions can be short: a session lasts at least two ticks. */
    static final int TICK_MILLIS = 500;

    /** Long enough for all pauses of a client on a busy machine. */
    private static final int LONGEST_SESSION_MILLIS = 60_000;

    private static final DefaultMetricsProvider METRICS = new DefaultMetricsProvider();

    private static final Set<Integer> KEEPS_A_SESSION =
            Set.of(OpCode.ping, OpCode.sync, OpCode.createSession, OpCode.closeSession);

    private final LongAdder requests = new LongAdder();
    private final Path files;
    private final int port = FreePorts.next();
    private ZooKeeperServer server;
    private ServerCnxnFactory connections;

    private Server(Path files) {
        this.files = files;
    }

    static Server start() {
        try {
            Server started = new Server(Files.createTempDirectory("holdfast-zookeeper-"));
            started.begin();
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts the server again, at the same port and with the same data. */
    void begin() {
        ServerMetrics.metricsProviderInitialized(
                METRICS); // they are global in the JVM: another server may have set its own
        try {
            server = new ZooKeeperServer(files.toFile(), files.toFile(), TICK_MILLIS) {
                @Override
                public void submitRequest(Request request) {
                    if (request.cnxn != null && !KEEPS_A_SESSION.contains(request.type)) {
                        requests.increment();
                    }
                    super.submitRequest(request);
                }
            };
            server.setMaxSessionTimeout(LONGEST_SESSION_MILLIS);
            connections = ServerCnxnFactory.createFactory(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0, 50);
            connections.startup(server);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    void stop() {
        connections.shutdown();
        server.shutdown();
    }

    int port() {
        return port;
    }

    String address() {
        return InetAddress.getLoopbackAddress().getHostAddress() + ':' + port;
    }

    ZooKeeperServer inside() {
        return server;
    }

    int watches() {
        return server.getZKDatabase().getDataTree().getWatchCount();
    }

    /** Counts nodes without a request. */
    int nodesIn(String path) {
        DataNode node = server.getZKDatabase().getDataTree().getNode(path);
        return node == null ? 0 : node.getChildren().size();
    }

    /** Whether that session has a watch for changes of its own state. */
    boolean isWatchedBy(long sessionId) {
        Set<String> paths = server.getZKDatabase().getDataTree().getWatches().getPaths(sessionId);
        return paths != null && paths.stream().anyMatch(it -> it.endsWith("/watched"));
    }

    /** Removes empty containers, as a server does each minute. */
    void removeEmptyContainers() {
        removeEmptyContainers(60_000);
    }

    /** Does it with that setting of {@code znode.container.maxPerMinute}. */
    void removeEmptyContainers(int maxPerMinute) {
        RequestProcessor processor = new RequestProcessor() {
            @Override
            public void processRequest(Request request) {
                server.submitRequest(request);
            }

            @Override
            public void shutdown() {
                // The server shuts its own processor down.
            }
        };
        ContainerManager manager = new ContainerManager(server.getZKDatabase(), processor, 60_000, maxPerMinute);
        try {
            manager.checkContainers();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            manager.stop();
        }
    }

    long requests() {
        return requests.sum();
    }

    int connections() {
        return connections.getNumAliveConnections();
    }

    /** Sets the next number of a queue, as if that many nodes had been created in it before. */
    void setNextNumber(String queue, int number) {
        server.getZKDatabase().getDataTree().getNode(queue).stat.setCversion(number);
    }

    /** Ends a session as if its time-out were over. */
    void expire(long sessionId) {
        server.closeSession(sessionId);
    }

    /** Returns how many watches have fired in all servers of this JVM because a node was deleted. A server may count one a moment later. */
    static long deletionsSeen() {
        return figure("sum_node_deleted_watch_count");
    }

    static long changesSeen() {
        return figure("sum_node_changed_watch_count");
    }

    private static long figure(String name) {
        Map<String, Number> figures = new ConcurrentHashMap<>();
        METRICS.dump((key, value) -> {
            if (value instanceof Number number) {
                figures.put(key, number);
            }
        });
        Number found = figures.get(name);
        if (found == null) {
            throw new AssertionError("no figure %s among %s".formatted(name, figures.keySet()));
        }
        return found.longValue();
    }

    @Override
    public void close() {
        stop();
        try (Stream<Path> all = Files.walk(files)) {
            all.sorted(Comparator.reverseOrder()).forEach(Server::delete);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
