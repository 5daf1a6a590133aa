package io.holdfast.examples.flashsale;

import io.holdfast.testkit.server.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server in this JVM. Its files are in one folder, which is deleted at the end. */
final class OneZooKeeper implements LockServers {

    /** A session lasts at least two ticks. It is short so that you see the session of the killed shop end. */
    private static final int TICK_MILLIS = 500;

    private static final int MOST_CONNECTIONS = 60;

    private final Path files;
    private final int port = FreePorts.next();
    private final ServerCnxnFactory connections;

    OneZooKeeper() {
        // The sale needs none of it after a power cut.
        System.setProperty("zookeeper.forceSync", "no");
        try {
            files = Files.createTempDirectory("flash-sale-zookeeper");
            connections = ServerCnxnFactory.createFactory(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), MOST_CONNECTIONS);
            connections.startup(new ZooKeeperServer(files.toFile(), files.toFile(), TICK_MILLIS));
        } catch (IOException e) {
            throw new IllegalStateException("the demo cannot start a ZooKeeper server: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while ZooKeeper started", e);
        }
    }

    @Override
    public LockAddress address() {
        return new LockAddress(LockAddress.Kind.ZOOKEEPER, List.of("127.0.0.1:" + port));
    }

    @Override
    public int strike() {
        return 0;
    }

    @Override
    public void close() {
        connections.shutdown();
        try (Stream<Path> all = Files.walk(files)) {
            for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the demo cannot delete the files of the ZooKeeper server", e);
        }
    }
}
