package io.holdfast.cli.doctor;

import io.holdfast.spi.LockBackend;
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

    private final CuratorFramework client;
    private final String root;
    private final Questions server;
    private final String name = "doctor-" + UUID.randomUUID();

    /** Written by the check of the nodes: whether the root was there before. */
    private volatile boolean hadRoot = true;

    /**
     * Connects with the first check.
     *
     * @param client a client that was not started; closed with the doctor
     * @param root where the locks are
     * @param patience the longest time for the answers of one check; some may take a multiple of it
     */
    public ZooKeeperDoctor(CuratorFramework client, String root, Duration patience) {
        this.client = client;
        this.root = root;
        server = new Questions("zookeeper", patience);
    }

    @Override
    public Flux<Finding> examine() {
        return server.ask("connection", 3, call(this::session))
                .flatMapMany(
                        first -> first.result() == Finding.Result.WORKS ? checks().startWith(first) : Flux.just(first));
    }

    private Answer session() throws Exception {
        client.start();
        if (!client.blockUntilConnected((int) server.patience().toMillis() * 2, TimeUnit.MILLISECONDS)) {
            return Answer.fails("no session with " + client.getZookeeperClient().getCurrentConnectionString());
        }
        int timeout = client.getZookeeperClient().getZooKeeper().getSessionTimeout();
        return Answer.works("session time-out %d s".formatted(timeout / 1000));
    }

    private static <T> Mono<T> call(Callable<T> question) {
        return Mono.fromCallable(question).subscribeOn(Schedulers.boundedElastic());
    }

    private String path() {
        return (root.equals("/") ? "" : root) + "/" + name;
    }

    private Flux<Finding> checks() {
        return Flux.concat(
                server.ask("servers", call(this::servers)),
                server.ask("nodes", 2, call(this::nodes)),
                server.ask("rights", call(this::rights)),
                server.ask("buffer", 2, call(this::largeNode)),
                server.ask(
                        "latency",
                        2,
                        Questions.latency(call(() -> client.checkExists().forPath("/")))),
                server.ask("lock", LockCycle.TIMES, LockCycle.run(this::backend, name, server.patience())));
    }

    private LockBackend backend() {
        return ZooKeeperLockBackend.builder(client).root(root).build();
    }

    private Answer servers() throws Exception {
        String config = new String(client.getConfig().forEnsemble(), StandardCharsets.UTF_8);
        List<String> servers =
                config.lines().filter(it -> it.startsWith("server.")).toList();
        long voters = servers.stream().filter(it -> it.contains(":participant")).count();
        return voters == 0
                ? Answer.fails("a single server")
                : Answer.is(voters >= 3, "%d that vote, %d observers".formatted(voters, servers.size() - voters));
    }

    private Answer nodes() throws Exception {
        hadRoot = root.equals("/") || client.checkExists().forPath(root) != null;
        client.create()
                .creatingParentContainersIfNeeded()
                .withMode(CreateMode.CONTAINER)
                .forPath(path());
        Stat unused = client.setData().forPath(path(), new byte[] {1});
        String child = client.create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(path() + "/place-");
        List<String> children = client.getChildren().forPath(path());
        client.delete().forPath(child);
        return Answer.is(
                children.size() == 1 && client.getData().forPath(path()).length == 1,
                "made, written, read and removed" + (hadRoot ? "" : "; the root did not exist, and can be made"));
    }

    private Answer rights() throws Exception {
        List<ACL> rights = client.getACL().forPath(path());
        boolean isOpen = rights.stream().anyMatch(it -> it.getId().equals(ANYONE) && (it.getPerms() & CHANGES) != 0);
        return Answer.is(!isOpen, isOpen ? "they may change a new node" : "they may not change a new node");
    }

    private Answer largeNode() throws Exception {
        Stat unused = client.setData().forPath(path(), new byte[LARGE]);
        unused = client.setData().forPath(path(), new byte[0]);
        int own = Integer.getInteger("jute.maxbuffer", 0xfffff);
        return Answer.is(own >= LARGE, "a node of 1 MB was written");
    }

    /** Removes the nodes of the checks and of the lock. The server removes the empty containers around them. */
    @Override
    public Mono<Void> close() {
        String top = root.equals("/") ? "" : root;
        return Flux.defer(() -> Flux.just(path(), top + "/mutex/" + name, top + "/mutex", top)
                        .take(hadRoot ? 2 : 4))
                .filter(node -> client.getZookeeperClient().isConnected())
                .concatMap(node -> call(() -> {
                            client.delete().forPath(node);
                            return node;
                        })
                        .timeout(Duration.ofSeconds(2))
                        .onErrorComplete())
                .then(Mono.<Void>fromRunnable(client::close).subscribeOn(Schedulers.boundedElastic()));
    }
}
