package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisCluster;
import io.holdfast.testkit.server.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Three masters with a replica each, without persistence. There are no wires: the servers send the clients their own addresses.
 *
 * <p>A failover may lose grants, as behind sentinels. So each failover is a gap, for the locks of all masters.
 */
final class ClusterServers implements Deployment {

    /** A replica takes over seconds after its master has died, and later on a busy machine. */
    private static final Duration SETTLES_WITHIN = Duration.ofSeconds(90);

    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private final Terms terms;
    private final RedisCluster cluster;
    private final RedisUsers users;
    private final Tenant tenant;

    /** Each shard with its first master and its first replica. */
    private final List<List<RedisServer>> shards;

    private final Successors successors;

    private ClusterServers(Terms terms, RedisCluster cluster, RedisUsers users) {
        this.terms = terms;
        this.cluster = cluster;
        this.users = users;
        shards = IntStream.range(0, cluster.masters().size())
                .mapToObj(i ->
                        List.of(cluster.masters().get(i), cluster.replicas().get(i)))
                .toList();
        tenant = new Tenant(this::servers);
        successors = Successors.watch(shards);
    }

    static Deployment start(Terms terms, Path folder) {
        LocalServers.choose();
        RedisUsers users = RedisUsers.in(folder);
        return new ClusterServers(
                terms, RedisCluster.startWithReplicas(users.arguments().toArray(new String[0])), users);
    }

    private List<RedisServer> servers() {
        return shards.stream().flatMap(List::stream).toList();
    }

    @Override
    public Address addressOf(int client) {
        return direct();
    }

    @Override
    public Address direct() {
        return new Address(terms, servers().stream().map(RedisServer::uri).toList(), users.secret());
    }

    @Override
    public Map<FaultKind, Strike.Fault> faults() {
        Map<FaultKind, Strike.Fault> faults = new LinkedHashMap<>(new RedisOperator(this::servers, users).faults());
        faults.put(FaultKind.TENANT_PUBLISHES, tenant::publish);
        faults.put(FaultKind.MASTER_KILLED, this::killMaster);
        faults.put(FaultKind.MASTER_FROZEN, this::freezeMaster);
        faults.put(FaultKind.MASTER_CHANGED, this::changeMaster);
        faults.put(FaultKind.REPLICA_KILLED, this::killReplica);
        faults.put(FaultKind.SERVER_PAUSED, this::pauseMaster);
        faults.put(FaultKind.SLOT_MOVED, this::moveSlot);
        return faults;
    }

    private void killMaster(Strike strike) throws InterruptedException {
        List<RedisServer> shard = strike.oneOf(shards);
        RedisServer master = master(shard);
        master.stop();
        try {
            awaitMaster(other(shard, master));
            strike.last();
        } finally {
            master.restart();
        }
        awaitStep();
    }

    private void freezeMaster(Strike strike) throws InterruptedException {
        List<RedisServer> shard = strike.oneOf(shards);
        RedisServer master = master(shard);
        master.pause();
        try {
            awaitMaster(other(shard, master));
            strike.last();
        } finally {
            master.resume();
        }
        awaitStep();
    }

    /** Orders a failover: with the consent of the master, or by the replica alone (TAKEOVER). */
    private void changeMaster(Strike strike) throws InterruptedException {
        List<RedisServer> shard = strike.oneOf(shards);
        RedisServer replica = other(shard, master(shard));
        boolean isTakeover = strike.other(2) == 0;
        // A failover in order may fail silently when the master is too slow.
        Await.until("the replica has taken over", SETTLES_WITHIN, POLL_INTERVAL.multipliedBy(10), () -> {
            boolean unused = Orders.attempt(replica, redis -> redis.clusterFailover(false, isTakeover));
            return isMaster(replica);
        });
        strike.last();
        awaitStep();
    }

    private void killReplica(Strike strike) throws InterruptedException {
        List<RedisServer> shard = strike.oneOf(shards);
        RedisServer replica = other(shard, master(shard));
        replica.stop();
        try {
            strike.last();
        } finally {
            replica.restart();
        }
        awaitStep();
    }

    private void pauseMaster(Strike strike) throws InterruptedException {
        RedisServer master = master(strike.oneOf(shards));
        boolean unused =
                Orders.attempt(master, redis -> redis.clientPause(strike.time().toMillis()));
        strike.last();
    }

    /** Moves a slot. Locks exclude meanwhile: a move is no gap. */
    private void moveSlot(Strike strike) throws InterruptedException {
        Resource resource = strike.oneOf(Resource.all(terms.target()));
        SlotMove move =
                new SlotMove(resource, shards.stream().map(this::quickMaster).toList());
        int home = move.home();
        int away = (home + 1 + strike.other(2)) % shards.size();
        move.go(home, away, strike);
        strike.last();
        move.go(away, home, strike);
        awaitStep();
    }

    private RedisServer quickMaster(List<RedisServer> shard) {
        return isMaster(shard.get(0)) ? shard.get(0) : shard.get(1);
    }

    private static RedisServer other(List<RedisServer> shard, RedisServer server) {
        return server.equals(shard.get(0)) ? shard.get(1) : shard.get(0);
    }

    private RedisServer master(List<RedisServer> shard) throws InterruptedException {
        return Await.some(
                "one server is the master",
                SETTLES_WITHIN,
                POLL_INTERVAL,
                () -> shard.stream().filter(this::isMasterInStep).findFirst());
    }

    private void awaitMaster(RedisServer server) throws InterruptedException {
        Await.until(server + " is a master", SETTLES_WITHIN, POLL_INTERVAL, () -> isMaster(server));
    }

    private void awaitStep() throws InterruptedException {
        for (List<RedisServer> shard : shards) {
            RedisServer unused = master(shard);
        }
        // Only then do all servers know the new master.
        Await.until(
                "all servers agree",
                SETTLES_WITHIN,
                POLL_INTERVAL,
                () -> servers().stream().map(ClusterServers::view).distinct().count() == 1);
    }

    /** Returns the slots of each server, as this server sees them. */
    private static String view(RedisServer server) {
        try {
            return RedisStore.ask(
                    server.port(),
                    redis -> Stream.of(redis.clusterNodes().split("\n", -1))
                            .filter(line -> line.contains("master") && !line.contains("fail"))
                            .map(line -> line.replace("myself,", ""))
                            .map(line -> line.replaceAll("^(\\S+) .* connected ?(.*)$", "$1 $2"))
                            .sorted()
                            .toList()
                            .toString());
        } catch (IllegalStateException away) {
            return server + " does not answer";
        }
    }

    private static boolean isMaster(RedisServer server) {
        return says(server, "role:master");
    }

    private boolean isMasterInStep(RedisServer server) {
        return says(server, "role:master") && says(server, "state=online");
    }

    private static boolean says(RedisServer server, String words) {
        try {
            return RedisStore.ask(server.port(), redis -> redis.info("replication"))
                    .contains(words);
        } catch (IllegalStateException away) {
            return false;
        }
    }

    @Override
    public List<Gap> gaps() {
        return Gap.merged(successors.gaps(), List.of());
    }

    @Override
    public Map<String, Long> counts() {
        return tenant.counts();
    }

    @Override
    public List<String> leftovers() {
        return shards.stream()
                .map(this::quickMaster)
                .flatMap(server -> RedisStore.leftovers(server.port()).stream())
                .toList();
    }

    @Override
    public void close() {
        successors.close();
        cluster.close();
    }
}
