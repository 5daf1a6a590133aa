package io.holdfast.cli.doctor;

import io.holdfast.zookeeper.ZooKeeperLockBackend;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Checks ZooKeeper, as far as a client may ask without four-letter words. Calls of Curator block, so they have threads of their own. */
public final class ZooKeeperDoctor implements Doctor {

    private static final int LARGE = 1_000_000;
    private static final Id ANYONE = new Id("world", "anyone");
    private static final int CHANGES = ZooDefs.Perms.ALL & ~ZooDefs.Perms.READ;

    private static final Check CONNECTION = Check.needed(
            "connection",
            "Nothing works.",
            "Check the address, the password, and that a majority of the servers runs.");
    private static final Check NODES = Check.needed(
            "container nodes under the root",
            "Clients cannot queue.",
            "Give the user create, read, write and delete under the root, or make the root for it. Upgrade a server older than 3.7.");
    private static final Check RIGHTS = Check.optional(
            "rights of other clients",
            "Each client that can connect can change the nodes of locks.",
            "Give the Curator client credentials and an ACLProvider: docs/operate/zookeeper.md.");
    private static final Check BUFFER = Check.optional(
            "jute.maxbuffer",
            "A lock can have fewer than 13,000 waiters, since a longer list does not fit.",
            "Set it to 1 MB, the default, on servers and clients.");
    private static final Check ENSEMBLE = Check.optional(
            "servers",
            "If one server fails, no client gets a lock.",
            "Run three or five servers. The check needs the right to read /zookeeper/config.");
    private static final Check LATENCY = Check.optional(
            "latency",
            "Each request for a lock takes at least that long.",
            "Move the application and the servers closer.");

    private final CuratorFramework client;
    private final String root;
    private final String name = "doctor-" + UUID.randomUUID();

    /** Written by the check of the nodes: whether the root was there before. */
    private volatile boolean hadRoot = true;

    /**
     * Connects with the first check.
     *
     * @param client a client that was not started; closed with the doctor
     * @param root where the locks are
     */
    public ZooKeeperDoctor(CuratorFramework client, String root) {
        this.client = client;
        this.root = root;
    }

    @Override
    public Flux<Finding> examine() {
        return CONNECTION
                .ask(
                        call(() -> {
                            client.start();
                            return client.blockUntilConnected((int) Check.PATIENCE.toSeconds() * 2, TimeUnit.SECONDS)
                                    ? CONNECTION.works("session time-out %d s"
                                            .formatted(client.getZookeeperClient()
                                                            .getZooKeeper()
                                                            .getSessionTimeout()
                                                    / 1000))
                                    : CONNECTION.fails("no session with "
                                            + client.getZookeeperClient().getCurrentConnectionString());
                        }),
                        Check.PATIENCE.multipliedBy(3))
                .flux()
                .concatMap(first ->
                        Flux.just(first).concatWith(first.result() == Finding.Result.WORKS ? checks() : Flux.empty()));
    }

    private static <T> Mono<T> call(Callable<T> question) {
        return Mono.fromCallable(question).subscribeOn(Schedulers.boundedElastic());
    }

    private String path() {
        return (root.equals("/") ? "" : root) + "/" + name;
    }

    private Flux<Finding> checks() {
        return Flux.concat(
                ENSEMBLE.askIfAllowed(call(this::servers)),
                NODES.ask(call(this::nodes), Check.PATIENCE.multipliedBy(2)),
                RIGHTS.askIfAllowed(call(this::rights)),
                BUFFER.ask(call(this::largeNode), Check.PATIENCE.multipliedBy(2)),
                LATENCY.latency(call(() -> client.checkExists().forPath("/"))),
                LockCycle.run(
                        () -> ZooKeeperLockBackend.builder(client).root(root).build(), name));
    }

    private Finding servers() throws Exception {
        String config = new String(client.getConfig().forEnsemble(), StandardCharsets.UTF_8);
        long voters = config.lines()
                .filter(it -> it.startsWith("server.") && it.contains(":participant"))
                .count();
        long observers = config.lines()
                .filter(it -> it.startsWith("server.") && it.contains(":observer"))
                .count();
        return voters == 0
                ? ENSEMBLE.fails("a single server")
                : ENSEMBLE.is(voters >= 3, "%d that vote, %d observers".formatted(voters, observers));
    }

    private Finding nodes() throws Exception {
        hadRoot = root.equals("/") || client.checkExists().forPath(root) != null;
        client.create()
                .creatingParentContainersIfNeeded()
                .withMode(CreateMode.CONTAINER)
                .forPath(path());
        Stat unused = client.setData().forPath(path(), new byte[] {1});
        String child = client.create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(path() + "/place-");
        List<String> children = client.getChildren().forPath(path());
        client.delete().forPath(child);
        return NODES.is(
                children.size() == 1 && client.getData().forPath(path()).length == 1,
                "made, written, read and removed" + (hadRoot ? "" : "; the root did not exist, and can be made"));
    }

    private Finding rights() throws Exception {
        List<ACL> rights = client.getACL().forPath(path());
        boolean isOpen = rights.stream().anyMatch(it -> it.getId().equals(ANYONE) && (it.getPerms() & CHANGES) != 0);
        return RIGHTS.is(!isOpen, isOpen ? "they may change a new node" : "they may not change a new node");
    }

    private Finding largeNode() throws Exception {
        Stat unused = client.setData().forPath(path(), new byte[LARGE]);
        unused = client.setData().forPath(path(), new byte[0]);
        int own = Integer.getInteger("jute.maxbuffer", 0xfffff);
        return BUFFER.is(own >= LARGE, "a node of 1 MB was written");
    }

    /** Removes the nodes of the checks and of the lock. The server removes the empty containers around them. */
    @Override
    public Mono<Void> close() {
        String top = root.equals("/") ? "" : root;
        return Flux.defer(() -> hadRoot
                        ? Flux.just(path(), top + "/mutex/" + name)
                        : Flux.just(path(), top + "/mutex/" + name, top + "/mutex", top))
                .concatMap(node -> call(() -> {
                            client.delete().forPath(node);
                            return node;
                        })
                        .timeout(Duration.ofSeconds(2))
                        .onErrorComplete())
                .then(Mono.<Void>fromRunnable(client::close).subscribeOn(Schedulers.boundedElastic()));
    }
}
