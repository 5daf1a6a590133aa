package io.holdfast.zookeeper.vertx;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.KeeperException;

/** A server of its own in this JVM, and its clients. */
final class Store implements AutoCloseable {

    private final TestingServer server;
    private final List<CuratorFramework> clients = new ArrayList<>();
    private final CuratorFramework eye;

    private Store(TestingServer server) {
        this.server = server;
        eye = client("");
    }

    static Store start() {
        try {
            return new Store(new TestingServer());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Returns a started and connected client. */
    CuratorFramework client(String namespace) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(server.getConnectString())
                .namespace(namespace)
                .sessionTimeoutMs(10_000)
                .connectionTimeoutMs(2_000)
                .retryPolicy(new RetryOneTime(100))
                .build();
        clients.add(client);
        client.start();
        try {
            client.blockUntilConnected();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return client;
    }

    /** Returns the nodes of all claims under the root: of holders, of waiters, and those left behind. */
    List<String> claims(String root) {
        List<String> claims = new ArrayList<>();
        for (String kind : children(root)) {
            for (String name : children(root + '/' + kind)) {
                String queue = root + '/' + kind + '/' + name;
                children(queue).forEach(claim -> claims.add(queue + '/' + claim));
            }
        }
        return claims;
    }

    void delete(String path) {
        try {
            eye.delete().forPath(path);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private List<String> children(String path) {
        try {
            return eye.getChildren().forPath(path);
        } catch (KeeperException.NoNodeException gone) {
            return List.of();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        clients.forEach(CuratorFramework::close);
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
