package io.holdfast.cli;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockReport;
import io.holdfast.cli.doctor.Doctor;
import io.holdfast.cli.doctor.EtcdDoctor;
import io.holdfast.cli.doctor.RedisDoctor;
import io.holdfast.cli.doctor.SqlDoctor;
import io.holdfast.cli.doctor.ZooKeeperDoctor;
import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactoryOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Opens the back end at an address. User and password come from the environment, since all users of a machine can read its command lines. */
final class Stores {

    static final String USER = "HOLDFAST_USER";
    static final String PASSWORD = "HOLDFAST_PASSWORD";

    private static final String REDLOCK = "+redlock://";
    private static final String CLUSTER = "+cluster://";
    private static final String ZOOKEEPER = "zookeeper://";
    private static final String ETCD = "etcd://";
    private static final String ETCD_TLS = "etcds://";
    private static final String SQL = "r2dbc:";

    private static final String FORMS =
            "Write it as redis://host:6379, rediss://host:6379 for TLS, redis-sentinel://host1,host2#master,"
                    + " redis+cluster://host1,host2, redis+redlock://host1,host2,host3 (rediss+... for TLS), zookeeper://host1,host2/holdfast,"
                    + " etcd://host1:2379,host2:2379, etcds://host for TLS,"
                    + " r2dbc:postgresql://host/database, r2dbc:mariadb://host/database or r2dbc:mysql://host/database.";

    private final Map<String, String> environment;

    Stores(Map<String, String> environment) {
        this.environment = environment;
    }

    /**
     * Makes an inspector. It connects with its first command.
     *
     * @throws UsageException if the address is invalid
     */
    LockInspector open(Arguments arguments) {
        return opened(arguments, address -> {
            if (isOf(REDLOCK, address)) {
                return redlock(arguments, hosts(address));
            } else if (isOf(CLUSTER, address)) {
                return cluster(arguments, address).inspector();
            } else if (address.startsWith("redis")) {
                return redis(arguments, address).inspector();
            } else if (address.startsWith(ZOOKEEPER)) {
                return zooKeeper(withoutScheme(address));
            } else if (isEtcd(address)) {
                Client client = etcd(address);
                return new Closing(
                        EtcdLockBackend.builder(client)
                                .keyPrefix(etcdPrefix(arguments))
                                .inspector(),
                        client::close);
            }
            return database(arguments, address).inspector();
        });
    }

    /**
     * Makes a doctor. It connects with its first check.
     *
     * @param patience the longest time for the answers of one check; some may take a multiple of it
     * @throws UsageException if the address is invalid
     */
    Doctor doctor(Arguments arguments, Duration patience) {
        return opened(arguments, address -> {
            if (address.startsWith(ZOOKEEPER)) {
                String hosts = withoutScheme(address);
                return new ZooKeeperDoctor(curator(hosts), root(hosts), patience);
            } else if (isEtcd(address)) {
                return new EtcdDoctor(
                        etcd(address),
                        members(address),
                        etcdPrefix(arguments),
                        environment.containsKey(PASSWORD),
                        patience);
            } else if (address.startsWith(SQL)) {
                return new SqlDoctor(
                        ConnectionFactories.get(options(address)),
                        arguments.schema(),
                        () -> database(arguments, address).build(),
                        patience);
            }
            String prefix = Objects.requireNonNullElse(arguments.keyPrefix(), "holdfast:");
            if (isOf(REDLOCK, address)) {
                List<String> hosts = hosts(address);
                requireMajority(hosts);
                return new RedisDoctor(
                        uris(hosts), RedisDoctor.Kind.REDLOCK, prefix, () -> brief(arguments, hosts), patience);
            }
            boolean isCluster = isOf(CLUSTER, address);
            return new RedisDoctor(
                    uris(isCluster ? hosts(address) : List.of(address)),
                    isCluster ? RedisDoctor.Kind.CLUSTER : RedisDoctor.Kind.SINGLE,
                    prefix,
                    () -> briefly(isCluster ? cluster(arguments, address) : redis(arguments, address))
                            .build(),
                    patience);
        });
    }

    private LockBackend brief(Arguments arguments, List<String> hosts) {
        return RedlockBackend.over(hosts.stream()
                .map(host -> briefly(redis(arguments, host))
                        .quarantine(Duration.ZERO)
                        .build())
                .toList());
    }

    private List<RedisURI> uris(List<String> hosts) {
        return hosts.stream().map(this::address).toList();
    }

    private <T> T opened(Arguments arguments, Function<String, T> open) {
        String address = arguments.store();
        requireNoSecret(address);
        requireUserAndPassword(address);
        if (Stream.of("redis", ZOOKEEPER, ETCD, ETCD_TLS, SQL).noneMatch(address::startsWith)) {
            throw new UsageException("The form of this address is unknown. " + FORMS);
        }
        try {
            return open.apply(address);
        } catch (IllegalArgumentException | IllegalStateException unreadable) {
            String why = String.valueOf(unreadable.getMessage());
            throw new UsageException("The address of the back end cannot be used: %s%s %s"
                    .formatted(why, why.endsWith(".") ? "" : ".", FORMS));
        }
    }

    /** Refuses a user or a password that would be ignored. Redis knows a password without a user, and databases know both forms. */
    private void requireUserAndPassword(String address) {
        boolean hasUser = environment.containsKey(USER);
        boolean hasPassword = environment.containsKey(PASSWORD);
        boolean fits =
                hasUser == hasPassword || address.startsWith(SQL) || (hasPassword && address.startsWith("redis"));
        if (!fits) {
            throw new UsageException(
                    "Set both %s and %s, or neither: one of them alone would be ignored.".formatted(USER, PASSWORD));
        }
    }

    /** Refuses an address with an at sign: a user or a password may stand before it. The message does not repeat the address. */
    private static void requireNoSecret(String address) {
        if (address.indexOf('@') >= 0 || address.contains("password")) {
            throw new UsageException(
                    "The address of the back end must have no user and no password, since all users of this machine can read the command line. Put them into the environment variables %s and %s."
                            .formatted(USER, PASSWORD));
        }
    }

    private static boolean isOf(String form, String address) {
        return address.startsWith("redis" + form) || address.startsWith("rediss" + form);
    }

    /** Returns an address for each host, with TLS if all have it. */
    static List<String> hosts(String address) {
        String scheme = address.substring(0, address.indexOf('+')) + "://";
        return Arrays.stream(withoutScheme(address).split(",", -1))
                .map(host -> scheme + host)
                .toList();
    }

    private static String withoutScheme(String address) {
        return address.substring(address.indexOf("://") + "://".length());
    }

    private RedisLockBackend.Builder redis(Arguments arguments, String address) {
        return prefixed(arguments, RedisLockBackend.builder(address(address)));
    }

    private RedisLockBackend.Builder cluster(Arguments arguments, String address) {
        return prefixed(arguments, RedisLockBackend.clusterBuilder(uris(hosts(address))));
    }

    private LockInspector redlock(Arguments arguments, List<String> hosts) {
        Map<String, LockInspector> masters = new LinkedHashMap<>();
        hosts.forEach(
                host -> masters.put(withoutScheme(host), redis(arguments, host).inspector()));
        requireMajority(masters.keySet());
        return RedlockBackend.inspector(masters);
    }

    private static void requireMajority(Collection<String> masters) {
        if (masters.size() < 3) {
            throw new IllegalArgumentException("it must name all masters, and at least three.");
        }
    }

    private static RedisLockBackend.Builder prefixed(Arguments arguments, RedisLockBackend.Builder builder) {
        String prefix = arguments.keyPrefix();
        return prefix == null ? builder : builder.keyPrefix(prefix);
    }

    /** Leaves nothing for long, even if the program is killed. */
    private static RedisLockBackend.Builder briefly(RedisLockBackend.Builder builder) {
        return builder.keepTokens(Duration.ofMinutes(1));
    }

    private RedisURI address(String text) {
        RedisURI address = RedisAddress.parse(text);
        String password = environment.get(PASSWORD);
        if (password != null) {
            String user = environment.get(USER);
            address.setCredentialsProvider(RedisCredentialsProvider.from(() -> RedisCredentials.just(user, password)));
        }
        return address;
    }

    private LockInspector zooKeeper(String hostsAndRoot) {
        CuratorFramework client = curator(hostsAndRoot);
        LockInspector inspector =
                ZooKeeperLockBackend.builder(client).root(root(hostsAndRoot)).inspector();
        client.start();
        return new Closing(inspector, client::close);
    }

    private static String root(String hostsAndRoot) {
        int slash = hostsAndRoot.indexOf('/');
        return slash < 0 || slash == hostsAndRoot.length() - 1 ? "/holdfast" : hostsAndRoot.substring(slash);
    }

    private CuratorFramework curator(String hostsAndRoot) {
        int slash = hostsAndRoot.indexOf('/');
        String hosts = slash < 0 ? hostsAndRoot : hostsAndRoot.substring(0, slash);
        CuratorFrameworkFactory.Builder builder =
                CuratorFrameworkFactory.builder().connectString(hosts).retryPolicy(new ExponentialBackoffRetry(200, 3));
        String user = environment.get(USER);
        String password = environment.get(PASSWORD);
        if (user != null && password != null) {
            builder = builder.authorization("digest", (user + ":" + password).getBytes(StandardCharsets.UTF_8));
        }
        return builder.build();
    }

    private static boolean isEtcd(String address) {
        return address.startsWith(ETCD) || address.startsWith(ETCD_TLS);
    }

    private static String etcdPrefix(Arguments arguments) {
        return Objects.requireNonNullElse(arguments.keyPrefix(), "holdfast/");
    }

    private static List<String> members(String address) {
        String scheme = address.startsWith(ETCD_TLS) ? "https://" : "http://";
        return Arrays.stream(withoutScheme(address).split(",", -1))
                .map(host -> host.endsWith("/") ? host.substring(0, host.length() - 1) : host)
                .map(host -> scheme + (host.matches(".*:\\d+") ? host : host + ":2379"))
                .toList();
    }

    /** Fails at once if no member can be reached, and trusts whom the JVM trusts. */
    private Client etcd(String address) {
        ClientBuilder builder = Client.builder()
                .endpoints(members(address).toArray(String[]::new))
                .waitForReady(false);
        String user = environment.get(USER);
        String password = environment.get(PASSWORD);
        if (user != null && password != null) {
            builder = builder.user(ByteSequence.from(user, StandardCharsets.UTF_8))
                    .password(ByteSequence.from(password, StandardCharsets.UTF_8));
        }
        try {
            return (address.startsWith(ETCD_TLS) ? builder.sslContext(tls -> {}) : builder).build();
        } catch (SSLException unusable) {
            throw new IllegalStateException(unusable);
        }
    }

    private ConnectionFactoryOptions options(String address) {
        ConnectionFactoryOptions.Builder options =
                ConnectionFactoryOptions.parse(address).mutate();
        String user = environment.get(USER);
        String password = environment.get(PASSWORD);
        if (user != null) {
            options = options.option(ConnectionFactoryOptions.USER, user);
        }
        if (password != null) {
            options = options.option(ConnectionFactoryOptions.PASSWORD, password);
        }
        return options.build();
    }

    private R2dbcLockBackend.Builder database(Arguments arguments, String address) {
        ConnectionFactoryOptions options = options(address);
        R2dbcLockBackend.Builder builder =
                R2dbcLockBackend.builder(ConnectionFactories.get(options)).address(options);
        String schema = arguments.schema();
        return schema == null ? builder : builder.schema(schema);
    }

    /** Closes also the client that the inspector borrows. */
    private record Closing(LockInspector delegate, Runnable last) implements LockInspector {

        @Override
        public Flux<LockReport> inspect(String name) {
            return delegate.inspect(name);
        }

        @Override
        public Flux<LockReport> all() {
            return delegate.all();
        }

        @Override
        public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
            return delegate.breakHold(lockName, holder);
        }

        @Override
        public Mono<Void> close() {
            return delegate.close().doFinally(end -> last.run());
        }
    }
}
