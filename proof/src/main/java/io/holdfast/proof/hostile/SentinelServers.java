package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisSentinels;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A master, its replica, and three sentinels, without persistence. There are no wires: the sentinels send the clients the address of the master.
 *
 * <p>A failover may lose grants: those that the promoted replica missed, and those of the old master until it is demoted. So each failover is a gap,
 * from before it until both servers are in step again.
 */
final class SentinelServers implements Deployment {

    /** The sentinels take eight seconds and more to demote a server that believes to be the master. */
    private static final Duration SETTLES_WITHIN = Duration.ofSeconds(90);

    /** The sentinels give a failover up after three seconds. */
    private static final Duration FAILS_OVER_WITHIN = Duration.ofSeconds(10);

    /** A server that refuses the operator for longer will not accept it again. */
    private static final Duration ACCEPTS_WITHIN = Duration.ofSeconds(5);

    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private final Terms terms;
    private final RedisSentinels sentinels;
    private final List<RedisServer> servers;
    private final RedisUsers users;
    private final Tenant tenant;
    private final List<Gap> gaps = new CopyOnWriteArrayList<>();
    private final Successors successors;

    /** Held by a failover and by a limit of the clients: a failover would end the connection of the operator, whom the server then refuses, too. */
    private final Semaphore oneOfThem = new Semaphore(1);

    private final AtomicLong refusedOperators = new AtomicLong();

    private SentinelServers(Terms terms, RedisSentinels sentinels, RedisUsers users) {
        this.terms = terms;
        this.sentinels = sentinels;
        this.users = users;
        servers = sentinels.servers();
        tenant = new Tenant(() -> servers);
        successors = Successors.watch(List.of(servers));
    }

    static Deployment start(Terms terms, Path folder) {
        LocalServers.choose();
        RedisUsers users = RedisUsers.in(folder);
        return new SentinelServers(terms, RedisSentinels.start(users.arguments().toArray(new String[0])), users);
    }

    @Override
    public Address addressOf(int client) {
        return direct();
    }

    @Override
    public Address direct() {
        return new Address(terms, List.of(sentinels.uri()), users.secret());
    }

    @Override
    public Map<FaultKind, Strike.Fault> faults() {
        Map<FaultKind, Strike.Fault> faults =
                new LinkedHashMap<>(new RedisOperator(() -> servers, users, ACCEPTS_WITHIN).faults());
        // A master that refuses writes refuses the sentinels' PING, too: that is a failover, and those are ordered
        // below.
        faults.keySet().remove(FaultKind.SAVE_FAILED);
        faults.computeIfPresent(
                FaultKind.CLIENTS_LIMITED, (kind, limit) -> strike -> alone(() -> limitClients(limit, strike)));
        faults.put(FaultKind.TENANT_PUBLISHES, tenant::publish);
        faults.put(FaultKind.MASTER_KILLED, this::killMaster);
        faults.put(FaultKind.MASTER_FROZEN, this::freezeMaster);
        faults.put(FaultKind.MASTER_CHANGED, this::changeMaster);
        faults.put(FaultKind.MASTER_DEMOTED, this::demoteMaster);
        faults.put(FaultKind.REPLICA_KILLED, this::killReplica);
        faults.put(FaultKind.SERVER_PAUSED, this::pauseMaster);
        return faults;
    }

    /** Demotes the master without the sentinels, which may or may not promote the replica. */
    private void demoteMaster(Strike strike) throws InterruptedException {
        RedisServer master = master();
        alone(() -> {
            long fromNanos = System.nanoTime();
            Demotion.ofNoUse(master, strike);
            awaitStep();
            gaps.add(new Gap(fromNanos, System.nanoTime()));
        });
    }

    /**
     * On a busy machine, the sentinels may replace the master on their own while its clients are limited. That ends the operator's connection, and the
     * server refuses another one. Then the operator starts the server again.
     */
    private void limitClients(Strike.Fault limit, Strike strike) throws InterruptedException {
        long fromNanos = System.nanoTime();
        try {
            limit.inject(strike);
        } catch (IllegalStateException refused) {
            refusedOperators.incrementAndGet();
            replace(strike.oneOf(servers), new Strike(Duration.ZERO, 0));
            awaitStep();
            gaps.add(new Gap(fromNanos, System.nanoTime()));
        }
    }

    private void killMaster(Strike strike) throws InterruptedException {
        RedisServer master = master();
        failOver(() -> replace(master, strike));
    }

    /** Stops a server, and starts it again, empty, when the other one is the master. */
    private void replace(RedisServer server, Strike strike) throws InterruptedException {
        server.stop();
        awaitPromoted(other(server));
        strike.last();
        server.restart();
        follow(server, other(server));
    }

    /** Makes a restarted server a replica at once, as an operator would do. In the other cases, the sentinels do it after eight seconds and more. */
    private static void follow(RedisServer replica, RedisServer master) throws InterruptedException {
        Orders.insist(replica, redis -> redis.replicaof(master.host(), master.port()));
    }

    private void freezeMaster(Strike strike) throws InterruptedException {
        RedisServer master = master();
        failOver(() -> {
            master.pause();
            try {
                awaitPromoted(other(master));
                strike.last();
            } finally {
                master.resume();
            }
        });
    }

    private void changeMaster(Strike strike) throws InterruptedException {
        RedisServer master = master();
        failOver(() -> {
            orderFailover(other(master));
            strike.last();
        });
    }

    /** Repeats the order: sentinels on a busy machine give a failover up after their time limit. */
    private void orderFailover(RedisServer next) throws InterruptedException {
        long startNanos = System.nanoTime();
        while (true) {
            askForFailover();
            try {
                Await.until(next + " is the master", FAILS_OVER_WITHIN, POLL_INTERVAL, () -> sentinelsSay(next));
                return;
            } catch (IllegalStateException givenUp) {
                if (System.nanoTime() - startNanos > SETTLES_WITHIN.toNanos()) {
                    throw givenUp;
                }
            }
        }
    }

    private void askForFailover() {
        RedisURI uri = RedisURI.create(sentinels.uri()).getSentinels().get(0);
        RedisClient client = RedisClient.create();
        try (var connection = client.connectSentinel(uri)) {
            String unused = connection.sync().failover(RedisSentinels.MASTER_NAME);
        } catch (RedisException refused) {
            // A failover is under way, or no replica is fit for it at this moment.
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }

    /** What happens to the servers, until it is repaired. */
    private interface Accident {
        void happen() throws InterruptedException;
    }

    private void failOver(Accident accident) throws InterruptedException {
        alone(() -> {
            long fromNanos = System.nanoTime();
            accident.happen();
            awaitStep();
            gaps.add(new Gap(fromNanos, System.nanoTime()));
        });
    }

    private void alone(Accident accident) throws InterruptedException {
        oneOfThem.acquire();
        try {
            accident.happen();
        } finally {
            oneOfThem.release();
        }
    }

    /** Pauses the master for less than the sentinels wait. Two short pauses in a row could still cause a failover. */
    private void pauseMaster(Strike strike) throws InterruptedException {
        long millis = Math.min(200, strike.time().toMillis());
        boolean unused = Orders.attempt(master(), redis -> redis.clientPause(millis));
        Strike.last(Duration.ofMillis(millis));
    }

    /** Stops the replica: meanwhile no grant is confirmed, and none is lost. */
    private void killReplica(Strike strike) throws InterruptedException {
        RedisServer master = master();
        RedisServer replica = other(master);
        replica.stop();
        try {
            strike.last();
        } finally {
            replica.restart();
        }
        awaitStep();
    }

    private RedisServer other(RedisServer server) {
        return server.equals(servers.get(0)) ? servers.get(1) : servers.get(0);
    }

    private RedisServer master() throws InterruptedException {
        return Await.some(
                "one server is the master and has its replica",
                SETTLES_WITHIN,
                POLL_INTERVAL,
                () -> servers.stream()
                        .filter(it -> isMasterInStep(it) && sentinelsSay(it))
                        .findFirst());
    }

    private void awaitPromoted(RedisServer server) throws InterruptedException {
        Await.until(server + " is the master", SETTLES_WITHIN, POLL_INTERVAL, () -> sentinelsSay(server));
    }

    /** Returns whether the sentinels take this server for the master. */
    private boolean sentinelsSay(RedisServer server) {
        try {
            return sentinels.isMaster(server);
        } catch (IllegalStateException | UncheckedIOException busy) {
            return false;
        }
    }

    /**
     * Waits until one server is the master and its replica is connected. On a busy machine, the sentinels may have replaced the new master again, so either
     * server may be it.
     */
    private void awaitStep() throws InterruptedException {
        RedisServer unused = master();
    }

    private boolean isMasterInStep(RedisServer server) {
        try {
            String info = RedisStore.ask(server.port(), redis -> redis.info("replication"));
            return info.contains("role:master") && info.contains("state=online");
        } catch (IllegalStateException away) {
            return false;
        }
    }

    @Override
    public List<Gap> gaps() {
        return Gap.merged(gaps, successors.gaps());
    }

    @Override
    public Map<String, Long> counts() {
        Map<String, Long> counts = new LinkedHashMap<>(tenant.counts());
        counts.put("servers that refused the operator", refusedOperators.get());
        return counts;
    }

    @Override
    public List<String> leftovers() {
        return servers.stream()
                .flatMap(server -> RedisStore.leftovers(server.port()).stream())
                .toList();
    }

    @Override
    public void close() {
        successors.close();
        sentinels.close();
    }
}
