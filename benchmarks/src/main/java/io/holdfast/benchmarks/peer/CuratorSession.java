package io.holdfast.benchmarks.peer;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * A connected Curator client.
 *
 * @param client started
 */
record CuratorSession(CuratorFramework client) {

    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final Duration CONNECT = Duration.ofSeconds(15);

    static CuratorSession open(String connect) {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                connect, (int) SESSION.toMillis(), (int) CONNECT.toMillis(), new ExponentialBackoffRetry(100, 5));
        client.start();
        try {
            if (!client.blockUntilConnected((int) CONNECT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("no ZooKeeper at %s within %s".formatted(connect, CONNECT));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while connecting to " + connect, e);
        }
        return new CuratorSession(client);
    }

    void close() {
        client.close();
    }
}
