package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** A server of its own in this JVM, and its clients. */
final class Store implements AutoCloseable {

    static final Duration SESSION = Duration.ofSeconds(3);

    /** The system property that names the server of the contract, as host:port. Without it, the contract has a server in this JVM. */
    private static final String NAMED = "holdfast.zookeeper";

    private final @Nullable Server server;
    private final String address;
    private final List<CuratorFramework> clients = new ArrayList<>();
    private final CuratorFramework eye;

    private Store(@Nullable Server server, String address) {
        this.server = server;
        this.address = address;
        eye = client("");
    }

    /** A server of its own in this JVM. */
    static Store start() {
        Server server = Server.start();
        return new Store(server, server.address());
    }

    /** The server that the property names, or else one in this JVM. */
    static Store ofContract() {
        String named = System.getProperty(NAMED);
        return named == null ? start() : new Store(null, named);
    }

    /** Only of a server in this JVM. */
    Server server() {
        return requireNonNull(server, "the server is not in this JVM");
    }

    String address() {
        return address;
    }

    String host() {
        return address.substring(0, address.lastIndexOf(':'));
    }

    int port() {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /** Counts the requests of clients so far, without those that only keep a session; -1 if the server is not in this JVM. */
    long requests() {
        return server == null ? -1 : server.requests();
    }

    CuratorFramework client(String namespace) {
        return client(namespace, address(), SESSION);
    }

    CuratorFramework client(String namespace, String address, Duration session) {
        CuratorFramework client = connect(namespace, address, session);
        clients.add(client);
        return client;
    }

    /** Returns a started and connected client. It stays with that server and does not learn of other servers. The caller closes it. */
    static CuratorFramework connect(String namespace, String address, Duration session) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(address)
                .namespace(namespace)
                .sessionTimeoutMs((int) session.toMillis())
                .connectionTimeoutMs(2_000)
                .ensembleTracker(false)
                .retryPolicy(new RetryOneTime(100))
                .build();
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

    void deleteAll(String root) {
        try {
            eye.delete().quietly().deletingChildrenIfNeeded().forPath(root);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    CuratorFramework eye() {
        return eye;
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

    static void end(ZooKeeperLockBackend backend) {
        Waiting.forMono(backend.close());
    }

    @Override
    public void close() {
        clients.forEach(CuratorFramework::close);
        if (server != null) {
            server.close();
        }
    }
}
