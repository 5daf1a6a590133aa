package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.KeeperException;

/**
 * An ensemble of three ZooKeeper servers, each a process. Exclusion is promised under any fault of one server at a time, as long as the servers
 * keep their data. So no fault empties a server.
 */
final class ZooKeeperServers implements Deployment {

    private static final int SERVERS = 3;
    private static final Duration STARTS_WITHIN = Duration.ofMinutes(4);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);
    private static final String ROOT = "/holdfast";

    private final Terms terms;
    private final List<ZooKeeperProcess> servers = new ArrayList<>();
    private final Wires wires;

    private ZooKeeperServers(Terms terms, int clients, Path folder) {
        this.terms = terms;
        String members = IntStream.rangeClosed(1, SERVERS)
                .mapToObj(id -> "server.%d=127.0.0.1:%d:%d".formatted(id, FreePorts.next(), FreePorts.next()))
                .collect(Collectors.joining("\n"));
        try {
            for (int id = 1; id <= SERVERS; id++) {
                servers.add(new ZooKeeperProcess(id, members, folder.resolve("zookeeper-" + id)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no folders for the servers", e);
        }
        wires = new Wires(clients, servers.stream().map(ZooKeeperProcess::port).toList());
    }

    static Deployment start(Terms terms, int clients, Path folder) {
        ZooKeeperServers all = new ZooKeeperServers(terms, clients, folder);
        try {
            all.servers.forEach(ZooKeeperProcess::start);
            all.awaitAll();
            return all;
        } catch (InterruptedException e) {
            all.close();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the servers started", e);
        } catch (RuntimeException e) {
            all.close();
            throw e;
        }
    }

    private void awaitAll() throws InterruptedException {
        Await.until(
                "all servers serve",
                STARTS_WITHIN,
                POLL_INTERVAL,
                () -> servers.stream().allMatch(ZooKeeperProcess::servesAgain));
    }

    @Override
    public Address addressOf(int client) {
        return addressAt(wires.ports(client));
    }

    @Override
    public Address direct() {
        return addressAt(servers.stream().map(ZooKeeperProcess::port).toList());
    }

    private Address addressAt(List<Integer> ports) {
        String all = ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        return new Address(terms, List.of(all));
    }

    @Override
    public Map<FaultKind, Strike.Fault> faults() {
        Map<FaultKind, Strike.Fault> faults = new LinkedHashMap<>(wires.faults());
        faults.put(FaultKind.LEADER_KILLED, strike -> kill(strike, leader()));
        faults.put(FaultKind.LEADER_FROZEN, strike -> freeze(strike, leader()));
        faults.put(FaultKind.FOLLOWER_KILLED, strike -> kill(strike, strike.oneOf(followers())));
        faults.put(FaultKind.FOLLOWER_FROZEN, strike -> freeze(strike, strike.oneOf(followers())));
        return faults;
    }

    private void kill(Strike strike, ZooKeeperProcess server) throws InterruptedException {
        server.close();
        try {
            strike.last();
        } finally {
            server.start();
        }
        awaitAll();
    }

    private void freeze(Strike strike, ZooKeeperProcess server) throws InterruptedException {
        server.freeze();
        try {
            strike.last();
        } finally {
            server.wake();
        }
        awaitAll();
    }

    private ZooKeeperProcess leader() throws InterruptedException {
        return Await.some(
                "there is a leader",
                STARTS_WITHIN,
                POLL_INTERVAL,
                () -> servers.stream().filter(ZooKeeperProcess::leads).findFirst());
    }

    private List<ZooKeeperProcess> followers() throws InterruptedException {
        return Await.some("there are followers", STARTS_WITHIN, POLL_INTERVAL, () -> {
            List<ZooKeeperProcess> followers =
                    servers.stream().filter(ZooKeeperProcess::follows).toList();
            return followers.isEmpty() ? Optional.empty() : Optional.of(followers);
        });
    }

    @Override
    public List<Gap> gaps() {
        return List.of();
    }

    /** The folders of locks are containers, which the servers delete when they have been empty for a while. */
    @Override
    public List<String> leftovers() {
        try (CuratorFramework client =
                CuratorFrameworkFactory.newClient(direct().servers().get(0), 10_000, 5_000, new RetryNTimes(5, 200))) {
            client.start();
            List<String> left = new ArrayList<>();
            collect(client, ROOT, left);
            return left;
        }
    }

    private static void collect(CuratorFramework client, String path, List<String> left) {
        try {
            if (client.checkExists().forPath(path) == null) {
                return;
            }
            for (String child : client.getChildren().forPath(path)) {
                String childPath = path + "/" + child;
                var stat = client.checkExists().forPath(childPath);
                if (stat != null && stat.getEphemeralOwner() != 0) {
                    left.add("node " + childPath);
                }
                collect(client, childPath, left);
            }
        } catch (KeeperException.NoNodeException deletedMeanwhile) {
            // A deleted node is not left.
        } catch (Exception e) {
            throw new IllegalStateException("cannot read the nodes of the ensemble: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        wires.close();
        servers.forEach(ZooKeeperProcess::close);
    }
}
