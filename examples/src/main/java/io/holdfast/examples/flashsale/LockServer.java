package io.holdfast.examples.flashsale;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;

/** A ZooKeeper server in this JVM, for as long as the demo runs, or nothing. */
final class LockServer implements AutoCloseable {

    /** A session lasts at least two of them, and that of the killed shop is to end while you watch. */
    private static final int TICK_MILLIS = 500;

    private final Optional<TestingServer> server;

    private LockServer(Optional<TestingServer> server) {
        this.server = server;
    }

    static LockServer start(Settings settings) {
        if (!settings.withLock() || settings.lockedBy() != Settings.Keeper.ZOOKEEPER) {
            return new LockServer(Optional.empty());
        }
        // Nothing of it is needed after a power cut.
        System.setProperty("zookeeper.forceSync", "no");
        try {
            return new LockServer(Optional.of(
                    new TestingServer(new InstanceSpec(null, -1, -1, -1, true, -1, TICK_MILLIS, -1), true)));
        } catch (Exception e) {
            throw new IllegalStateException("a ZooKeeper server cannot be started: " + e.getMessage(), e);
        }
    }

    Optional<String> address() {
        return server.map(TestingServer::getConnectString);
    }

    @Override
    public void close() {
        try {
            if (server.isPresent()) {
                server.get().close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the files of the ZooKeeper server cannot be deleted", e);
        }
    }
}
