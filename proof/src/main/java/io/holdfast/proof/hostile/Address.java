package io.holdfast.proof.hostile;

import io.etcd.jetcd.Client;
import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.concurrent.Future;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * The back end of a campaign, and its address.
 *
 * @param terms which back end, and how it is used
 * @param servers the addresses of its servers, in the form that the back end expects
 * @param secret the file with the current password of the clients; empty if they need none
 */
record Address(Terms terms, List<String> servers, String secret) {

    /** Replaces an empty {@link #secret} in the text form. */
    private static final String NO_SECRET = "%";

    /** The claim time, as a fraction of the lease: a pushed grant must be confirmed within it. */
    private static final int CLAIMS = 4;

    /** The time limit of a request to PostgreSQL, as a fraction of the lease. */
    private static final int REPLIES = 2;

    /** The replicas that confirm each grant: all of them, since there is one. */
    private static final int CONFIRMATIONS = 1;

    private static final Duration CONFIRMED_WITHIN = Duration.ofMillis(200);
    private static final int CONNECT_MILLIS = 2_000;

    /** For clients that need no password. */
    Address(Terms terms, List<String> servers) {
        this(terms, servers, "");
    }

    String toText() {
        String word = secret.isEmpty() ? NO_SECRET : URLEncoder.encode(secret, StandardCharsets.UTF_8);
        return terms.toText() + " " + word + " " + String.join(" ", servers);
    }

    static Address parse(String text) {
        List<String> words = List.of(text.split(" "));
        String word = words.get(Terms.WORDS);
        return new Address(
                Terms.parse(words.subList(0, Terms.WORDS)),
                List.copyOf(words.subList(Terms.WORDS + 1, words.size())),
                word.equals(NO_SECRET) ? "" : URLDecoder.decode(word, StandardCharsets.UTF_8));
    }

    /** A back end, and the resources that it does not close itself. */
    record Opened(LockBackend backend, Runnable rest) {}

    Opened open() {
        return open(0);
    }

    /**
     * Opens a back end that refuses claims.
     *
     * @param maxWaiters how many claims may wait for one lock, where the back end can limit that; 0 for no limit
     */
    Opened open(int maxWaiters) {
        return switch (terms.target()) {
            case REDIS, SENTINEL -> overRedis(List.of(servers.get(0)), maxWaiters);
            case CLUSTER -> overCluster(maxWaiters);
            case REDLOCK -> overRedis(servers, 0);
            case ZOOKEEPER -> overZooKeeper(maxWaiters);
            case ETCD -> overEtcd(maxWaiters);
            case POSTGRESQL -> overPostgres();
        };
    }

    private Opened overRedis(List<String> uris, int maxWaiters) {
        ClientResources resources = ClientResources.create();
        List<RedisLockBackend> backends = new ArrayList<>();
        uris.forEach(uri -> backends.add(redis(resources, uri, maxWaiters)));
        LockBackend backend = terms.target() == Target.REDLOCK ? RedlockBackend.over(backends) : backends.get(0);
        if (terms.flaw() == Flaw.TRUSTED_GRANTS && terms.target() == Target.REDIS) {
            backend = new TrustedGrants(backend, RedisURI.create(uris.get(0)));
        }
        return new Opened(terms.on(backend), () -> end(resources));
    }

    private RedisLockBackend redis(ClientResources resources, String uri, int maxWaiters) {
        RedisLockBackend.Builder builder = limited(RedisLockBackend.builder(redisUri(uri)), maxWaiters)
                .claimTime(terms.lease().dividedBy(CLAIMS));
        if (terms.target() == Target.SENTINEL) {
            builder = builder.confirmGrants(CONFIRMATIONS, CONFIRMED_WITHIN);
        }
        if (terms.target() == Target.REDLOCK) {
            // All processes use the same lease, so it is the longest one.
            builder = builder.quarantine(terms.flaw() == Flaw.NO_QUARANTINE ? Duration.ZERO : terms.lease());
        }
        return builder.resources(resources).build();
    }

    private static RedisLockBackend.Builder limited(RedisLockBackend.Builder builder, int maxWaiters) {
        return maxWaiters == 0 ? builder : builder.maxWaiters(maxWaiters);
    }

    private Opened overCluster(int maxWaiters) {
        ClientResources resources = ClientResources.create();
        RedisLockBackend.Builder builder = RedisLockBackend.clusterBuilder(
                servers.stream().map(this::redisUri).toList());
        RedisLockBackend backend = limited(builder, maxWaiters)
                .claimTime(terms.lease().dividedBy(CLAIMS))
                .confirmGrants(CONFIRMATIONS, CONFIRMED_WITHIN)
                .resources(resources)
                .build();
        return new Opened(terms.on(backend), () -> end(resources));
    }

    private static void end(ClientResources resources) {
        Future<?> unused = resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private RedisURI redisUri(String text) {
        RedisURI uri = RedisURI.create(text);
        if (!secret.isEmpty()) {
            uri.setCredentialsProvider(RedisUsers.clientOf(Path.of(secret)));
        }
        return uri;
    }

    private Opened overPostgres() {
        R2dbcLockBackend backend = R2dbcLockBackend.builder(PostgresAddress.connections(servers, Path.of(secret)))
                .claimTime(terms.lease().dividedBy(CLAIMS))
                .replyTimeout(terms.lease().dividedBy(REPLIES))
                .build();
        return new Opened(terms.on(backend), () -> {});
    }

    /** The driver notices a half-open connection as soon as etcd lets it ask. */
    private Opened overEtcd(int maxWaiters) {
        Client client = Client.builder()
                .endpoints(servers.toArray(String[]::new))
                .keepaliveTime(Duration.ofSeconds(5))
                .keepaliveTimeout(Duration.ofSeconds(1))
                .build();
        EtcdLockBackend.Builder builder = EtcdLockBackend.builder(client);
        return new Opened(
                terms.on((maxWaiters == 0 ? builder : builder.maxWaiters(maxWaiters)).build()), client::close);
    }

    /** The client must not learn the servers' own addresses: it would bypass the wires that faults cut. */
    private Opened overZooKeeper(int maxWaiters) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(servers.get(0))
                .ensembleTracker(false)
                .sessionTimeoutMs((int) terms.lease().toMillis())
                .connectionTimeoutMs(CONNECT_MILLIS)
                .retryPolicy(new ExponentialBackoffRetry(50, 3))
                .build();
        client.start();
        ZooKeeperLockBackend.Builder builder = ZooKeeperLockBackend.builder(client);
        return new Opened(
                terms.on((maxWaiters == 0 ? builder : builder.maxWaiters(maxWaiters)).build()), client::close);
    }
}
