package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.holdfast.LockClient;
import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Which back end an application gets, and which error it gets without one. No server is needed: no request is sent before the first use. */
class BackEndChoiceTest {

    private static final String FIVE =
            "redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3,redis://127.0.0.1:4,redis://127.0.0.1:5";

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class));

    /** A bean of the application that would use a Curator client if there were one. */
    record Bystander(ObjectProvider<CuratorFramework> curator) {}

    /** The same for a client of etcd. */
    record Neighbour(ObjectProvider<Client> etcd) {}

    @Test
    void oneLineConfiguresLocksInMemory() {
        runner.withPropertyValues("holdfast.backend=memory").run(context -> {
            assertThat(context).getBean(LockBackend.class).isInstanceOf(InMemoryLockBackend.class);
            StepVerifier.create(context.getBean(LockClient.class).lock("a").withLock(Mono.just("done")))
                    .expectNext("done")
                    .expectComplete()
                    .verify(Duration.ofSeconds(10));
        });
    }

    @ParameterizedTest
    @CsvSource({
        "holdfast.redis.uri, redis://user:secret@localhost:6379/2",
        "holdfast.redis.uri, 'redis-sentinel://h1,h2,h3#main'",
        "holdfast.redis.cluster-uris, 'redis://h1:7000,redis://h2:7000'"
    })
    void twoLinesConfigureLocksInRedis(String property, String value) {
        runner.withPropertyValues("holdfast.backend=redis", property + "=" + value)
                .run(context -> assertThat(context).getBean(LockBackend.class).isInstanceOf(RedisLockBackend.class));
    }

    @Test
    void twoLinesConfigureARedlock() {
        runner.withPropertyValues("holdfast.backend=redlock", "holdfast.redlock.uris=" + FIVE)
                .run(context -> assertThat(context).getBean(LockBackend.class).isInstanceOf(RedlockBackend.class));
    }

    @Test
    void twoLinesConfigureLocksInZooKeeperOnASessionThatEndsWithTheContext() {
        runner.withPropertyValues("holdfast.backend=zookeeper", "holdfast.zookeeper.connect-string=127.0.0.1:1")
                .withBean(Bystander.class)
                .run(context -> {
                    assertThat(context).getBean(LockBackend.class).isInstanceOf(ZooKeeperLockBackend.class);
                    CuratorFramework own = context.getBean("holdfastCurator", CuratorFramework.class);
                    assertThat(own.getState()).isEqualTo(CuratorFrameworkState.STARTED);
                    assertThat(own.getZookeeperClient().getConnectionTimeoutMs())
                            .isEqualTo(15_000);
                    assertThat(context.getBean(Bystander.class).curator().getIfAvailable())
                            .as("Curator clients that another bean gets")
                            .isNull();

                    context.close();

                    assertThat(own.getState()).isEqualTo(CuratorFrameworkState.STOPPED);
                });
    }

    @Test
    void aCuratorClientOfTheApplicationIsBorrowed() {
        CuratorFramework mine = CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(1));
        runner.withPropertyValues("holdfast.backend=zookeeper")
                .withBean(CuratorFramework.class, () -> mine, definition -> definition.setDestroyMethodName(""))
                .run(context -> {
                    assertThat(context).getBean(LockBackend.class).isInstanceOf(ZooKeeperLockBackend.class);
                    context.close();
                    assertThat(mine.getState()).isEqualTo(CuratorFrameworkState.LATENT);
                });
    }

    @Test
    void twoLinesConfigureLocksInEtcd() {
        runner.withPropertyValues("holdfast.backend=etcd", "holdfast.etcd.endpoints=http://h1:2379,http://h2:2379")
                .withBean(Neighbour.class)
                .run(context -> {
                    assertThat(context).getBean(LockBackend.class).isInstanceOf(EtcdLockBackend.class);
                    assertThat(context.getBean(Neighbour.class).etcd().getIfAvailable())
                            .as("clients of etcd that another bean gets")
                            .isNull();
                });
    }

    @Test
    void aClientOfEtcdOfTheApplicationIsBorrowed() {
        List<String> closed = new ArrayList<>();
        try (Client mine = Client.builder().endpoints("http://127.0.0.1:1").build()) {
            Client watched = (Client) Proxy.newProxyInstance(
                    Client.class.getClassLoader(), new Class<?>[] {Client.class}, (proxy, method, args) -> {
                        if (method.getName().equals("close")) {
                            closed.add("closed");
                        }
                        return method.invoke(mine, args);
                    });
            runner.withPropertyValues("holdfast.backend=etcd")
                    .withBean(Client.class, () -> watched, definition -> definition.setDestroyMethodName(""))
                    .run(context ->
                            assertThat(context).getBean(LockBackend.class).isInstanceOf(EtcdLockBackend.class));
            assertThat(closed).isEmpty();

            runner.withPropertyValues(
                            "holdfast.backend=etcd", "holdfast.etcd.username=me", "holdfast.etcd.password=secret")
                    .withBean(Client.class, () -> watched, definition -> definition.setDestroyMethodName(""))
                    .run(context -> assertThat(Refusal.of(context))
                            .hasMessageContaining("Give that client its user")
                            .message()
                            .doesNotContain("secret"));
        }
    }

    /** As on Spring Boot 3.5, which has Netty 4.1. */
    @Test
    void librariesOfEtcdThatDoNotFitAreRefused() {
        Client mixed = (Client) Proxy.newProxyInstance(
                Client.class.getClassLoader(), new Class<?>[] {Client.class}, (proxy, method, args) -> {
                    throw new NoClassDefFoundError("io/netty/channel/MultiThreadIoEventLoopGroup");
                });
        runner.withPropertyValues("holdfast.backend=etcd")
                .withBean(Client.class, () -> mixed, definition -> definition.setDestroyMethodName(""))
                .run(context -> assertThat(Refusal.of(context))
                        .hasMessageContaining("MultiThreadIoEventLoopGroup is missing")
                        .hasMessageContaining("set the property netty.version"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"http://me:secret@h:2379", "h:2379#secret", "http://h secret", "redis://secret", "http:///secret"
            })
    void aMalformedAddressOfEtcdIsNotRepeated(String address) {
        runner.withPropertyValues("holdfast.backend=etcd", "holdfast.etcd.endpoints=" + address)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("holdfast.etcd.endpoints has a value that is not an address of etcd")
                        .rootCause()
                        .message()
                        .doesNotContain("secret"));
    }

    @Test
    void credentialsForZooKeeperAreForTheStartersOwnClient() {
        CuratorFramework mine = CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(1));
        runner.withPropertyValues("holdfast.backend=zookeeper", "holdfast.zookeeper.auth=me:secret")
                .withBean(CuratorFramework.class, () -> mine, definition -> definition.setDestroyMethodName(""))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidLockPropertiesException.class)
                        .hasMessageContaining("Give that client its authorization")
                        .message()
                        .doesNotContain("secret"));
    }

    /** The factory of a driver that no test needs. */
    private record Factory(String database) implements ConnectionFactory {

        @Override
        public Publisher<? extends Connection> create() {
            return Mono.error(new UnsupportedOperationException("no connection before the first use"));
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return () -> database;
        }
    }

    @Test
    void oneLineConfiguresLocksInTheDatabaseOfTheApplication() {
        runner.withPropertyValues("holdfast.backend=r2dbc")
                .withBean(ConnectionFactory.class, () -> new Factory("PostgreSQL"))
                .run(context -> assertThat(context).getBean(LockBackend.class).isInstanceOf(R2dbcLockBackend.class));
    }

    @Test
    void anUnsupportedDatabaseIsRefused() {
        withDatabases("Cassandra")
                .run(context -> assertRefused(
                        context, "the ConnectionFactory of the application does not fit", "are to Cassandra"));
    }

    @Test
    void severalDatabasesNeedAPrimaryOne() {
        withDatabases("PostgreSQL", "PostgreSQL")
                .run(context -> assertRefused(
                        context, "the application has several beans of type ConnectionFactory", "as @Primary"));
        withDatabases("Cassandra")
                .withBean(
                        "primary",
                        ConnectionFactory.class,
                        () -> new Factory("PostgreSQL"),
                        definition -> definition.setPrimary(true))
                .run(context -> assertThat(context).getBean(LockBackend.class).isInstanceOf(R2dbcLockBackend.class));
    }

    @Test
    void optionsOfTheDatabaseAreChecked() {
        withDatabases("PostgreSQL")
                .withPropertyValues("holdfast.r2dbc.claim-time=2h")
                .run(context -> assertRefused(context, "claimTime must be from 10 ms to 1 minute", "PT2H"));
        withDatabases("PostgreSQL")
                .withPropertyValues("holdfast.r2dbc.reply-timeout=1ms")
                .run(context -> assertRefused(context, "replyTimeout must be from 10 ms", "PT0.001S"));
        withDatabases("PostgreSQL")
                .withPropertyValues("holdfast.r2dbc.schema= ")
                .run(context -> assertRefused(context, "schema must not be blank", "''"));
    }

    private ApplicationContextRunner withDatabases(String... names) {
        ApplicationContextRunner with = runner.withPropertyValues("holdfast.backend=r2dbc");
        for (int i = 0; i < names.length; i++) {
            Factory factory = new Factory(names[i]);
            with = with.withBean("database" + i, ConnectionFactory.class, () -> factory);
        }
        return with;
    }

    private static void assertRefused(AssertableApplicationContext context, String... messages) {
        assertThat(Refusal.of(context)).message().contains(messages);
    }

    @Test
    void aBackEndOfTheApplicationReplacesTheConfiguredOne() {
        InMemoryLockBackend mine = InMemoryLockBackend.create();
        runner.withPropertyValues("holdfast.backend=redis")
                .withBean(InMemoryLockBackend.class, () -> mine)
                .run(context -> {
                    assertThat(context).hasSingleBean(LockClient.class);
                    assertThat(context).getBean(LockBackend.class).isSameAs(mine);
                });
    }

    @Test
    void aClientOfTheApplicationReplacesTheConfiguredOne() {
        LockClient mine = LockClient.create(InMemoryLockBackend.create());
        runner.withPropertyValues("holdfast.backend=memory")
                .withBean(LockClient.class, () -> mine)
                .run(context -> {
                    assertThat(context).getBean(LockClient.class).isSameAs(mine);
                    assertThat(context).doesNotHaveBean(LockBackend.class);
                });
    }

    @Test
    void aClientOfTheApplicationNeedsNoProperties() {
        runner.withBean(LockClient.class, () -> LockClient.create(InMemoryLockBackend.create()))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource({
        "redis, holdfast.redis.uri, io.holdfast:holdfast-redis",
        "redlock, holdfast.redlock.uris, io.holdfast:holdfast-redlock and io.holdfast:holdfast-redis",
        "zookeeper, holdfast.zookeeper.connect-string, io.holdfast:holdfast-zookeeper",
        "etcd, holdfast.etcd.endpoints, io.holdfast:holdfast-etcd and io.etcd:jetcd-core",
        "r2dbc, holdfast.r2dbc.schema, io.holdfast:holdfast-r2dbc"
    })
    void aMissingModuleIsNamed(String backend, String property, String artifacts) {
        runner.withClassLoader(new FilteredClassLoader(
                        "io.holdfast.redis",
                        "io.holdfast.redlock",
                        "io.holdfast.zookeeper",
                        "io.etcd",
                        "io.holdfast.r2dbc",
                        "io.r2dbc"))
                .withPropertyValues("holdfast.backend=" + backend, property + "=x")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidLockPropertiesException.class)
                        .hasMessageContaining(
                                "holdfast.backend is " + backend + ", but its module is not on the class path")
                        .hasMessageContaining("Add " + artifacts + " to the dependencies"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"holdfast.backend=", "any=thing"})
    void withoutAChoiceThereIsNoClient(String property) {
        runner.withPropertyValues(property)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(LockClient.class)
                        .doesNotHaveBean(LockBackend.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory ", " MEMORY", "mem-ory"})
    void aChoiceIsReadLikeAnyEnumerationOfSpring(String value) {
        runner.withSystemProperties("holdfast.backend=" + value)
                .run(context -> assertThat(context).getBean(LockBackend.class).isInstanceOf(InMemoryLockBackend.class));
    }

    @Test
    void anUnknownBackEndIsRefusedWithAListOfTheKnownOnes() {
        refused(
                "holdfast.backend is 'postgres', which is not a back end. Set it to memory, redis, redlock, zookeeper, etcd or r2dbc.",
                "holdfast.backend=postgres");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "holdfast.backend=redis | neither holdfast.redis.uri nor holdfast.redis.cluster-uris is set",
                "holdfast.backend=redis; holdfast.redis.uri=redis://a; holdfast.redis.cluster-uris=redis://b | both set",
                "holdfast.backend=redis; holdfast.redis.uri=redis://a; holdfast.redis.key-prefix=a{b | keyPrefix must have no whitespace and no braces",
                "holdfast.backend=redis; holdfast.redis.uri=redis://a; holdfast.redis.keep-tokens=59 | keepTokens must be from 1 minute to 365 days, was PT59S",
                "holdfast.backend=redlock; holdfast.redlock.keep-tokens=366d; holdfast.redlock.uris=redis://a,redis://b,redis://c | keepTokens must be from 1 minute to 365 days, was PT8784H",
                "holdfast.backend=redis; holdfast.redis.uri=redis://a?timeot=2s | a parameter 'timeot' that does not exist",
                "holdfast.backend=zookeeper | holdfast.zookeeper.connect-string is not set",
                "holdfast.backend=zookeeper; holdfast.zookeeper.connect-string=127.0.0.1:1; holdfast.zookeeper.root=/ | root must be a node that no other program uses",
                "holdfast.backend=zookeeper; holdfast.zookeeper.connect-string=127.0.0.1:1; holdfast.zookeeper.session-timeout=25d | holdfast.zookeeper.session-timeout is PT600H",
                "holdfast.backend=zookeeper; holdfast.zookeeper.connect-string=127.0.0.1:1; holdfast.zookeeper.session-timeout=10000000000000000s | almost 25 days",
                "holdfast.backend=zookeeper; holdfast.zookeeper.connect-string=127.0.0.1:1; holdfast.zookeeper.session-timeout=0s | holdfast.zookeeper.session-timeout is PT0S",
                "holdfast.backend=zookeeper; holdfast.zookeeper.connect-string=127.0.0.1:1; holdfast.zookeeper.session-timeout=-1s | holdfast.zookeeper.session-timeout is PT-1S",
                "holdfast.backend=zookeeper; holdfast.zookeeper.connect-string=127.0.0.1:1; holdfast.zookeeper.auth-scheme=digest | holdfast.zookeeper.auth is not",
                "holdfast.backend=zookeeper; holdfast.zookeeper.connect-string=127.0.0.1:1; holdfast.zookeeper.auth=nobody | not valid for the scheme digest",
                "holdfast.backend=zookeeper; holdfast.zookeeper.connect-string=127.0.0.1:1; holdfast.zookeeper.acl=creator | holdfast.zookeeper.acl is creator, but holdfast.zookeeper.auth is not set",
                "holdfast.backend=etcd | holdfast.etcd.endpoints is not set",
                "holdfast.backend=etcd; holdfast.etcd.endpoints=http://h:1,https://h:2 | members with TLS, and others without it",
                "holdfast.backend=etcd; holdfast.etcd.endpoints=http://h:1; holdfast.etcd.username=me | One of holdfast.etcd.username and holdfast.etcd.password is set",
                "holdfast.backend=etcd; holdfast.etcd.endpoints=http://h:1; holdfast.etcd.presence=1s | presence must be at least 2 s, was PT1S",
                "holdfast.backend=etcd; holdfast.etcd.endpoints=http://h:1; holdfast.etcd.key-prefix= | keyPrefix must not be blank",
                "holdfast.backend=etcd; holdfast.etcd.endpoints=http://h:1; holdfast.etcd.ssl.bundle=locks | but the application has no SSL bundles",
                "holdfast.backend=r2dbc | but the application has no ConnectionFactory",
                "holdfast.backend=redlock | holdfast.redlock.uris has 0 servers",
                "holdfast.backend=redlock; holdfast.lease-duration=2d; holdfast.redlock.uris=redis://a,redis://b,redis://c | quarantine must be from zero to 1 day, was PT48H",
                "holdfast.backend=redlock; holdfast.redlock.quarantine=10s; holdfast.redlock.uris=redis://a,redis://b,redis://c | holdfast.redlock.quarantine is PT10S, shorter than holdfast.lease-duration, which is PT30S",
                "holdfast.backend=redlock; holdfast.redlock.quarantine=0s; holdfast.redlock.uris=redis://a,redis://b | holdfast.redlock.uris has 2 servers",
                "holdfast.backend=redlock; holdfast.redlock.quarantine=0s; holdfast.redlock.uris=redis://a,redis://b,redis://:pw@a | has the server a:6379 twice",
                "holdfast.backend=memory; holdfast.lease-duration=1s; holdfast.operation-timeout=1s | three operation timeouts must fit into a lease",
                "holdfast.backend=memory; holdfast.max-hold-time=1s | maxHoldTime must be at least leaseDuration"
            })
    void propertiesThatDoNotFitAreRefused(String properties, String message) {
        refused(message, properties.split("; ", -1));
    }

    @Test
    void quarantineIsTheLeaseDurationByDefault() {
        Duration lease = Duration.ofSeconds(45);
        assertThat(RedisBackends.quarantine(null, lease)).isEqualTo(lease);
        assertThat(RedisBackends.quarantine(Duration.ofMinutes(1), lease)).hasMinutes(1);
        assertThat(RedisBackends.quarantine(Duration.ZERO, lease)).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://me:se cret@localhost",
                "redis://me:se#cret@localhost:6379",
                "redis://me:se?cret@localhost",
                "redis://me:12#cret@localhost",
                "redis://me:cret:localhost:6379",
                "redis-sentinel://me:12#cret@localhost:26379",
                "redis-socket://me:se/cret@/tmp/redis.sock"
            })
    void aMalformedAddressIsNotRepeated(String address) {
        runner.withPropertyValues("holdfast.backend=redis", "holdfast.redis.uri=" + address)
                .run(context -> {
                    assertThat(context.getStartupFailure())
                            .hasStackTraceContaining("holdfast.redis.uri has a value that is not a Redis address")
                            .asString()
                            .doesNotContain("cret");
                    assertThat(context.getStartupFailure())
                            .rootCause()
                            .hasNoSuppressedExceptions()
                            .message()
                            .doesNotContain("cret");
                });
    }

    @Test
    void addressesAreNotPrinted() {
        HoldfastProperties.Redis redis = new HoldfastProperties.Redis(
                "redis://:secret@h", List.of(), "p:", Duration.ofHours(1), new HoldfastProperties.Ssl(null), false);
        HoldfastProperties.Redlock redlock = new HoldfastProperties.Redlock(
                List.of("redis://:secret@h"), null, "p:", Duration.ofHours(1), new HoldfastProperties.Ssl(null), false);
        HoldfastProperties.Zookeeper zookeeper = new HoldfastProperties.Zookeeper(
                "h:2181", "/holdfast", Duration.ofSeconds(30), "digest", "me:secret", null);
        HoldfastProperties.Etcd etcd = new HoldfastProperties.Etcd(
                List.of("http://me:secret@h"),
                "p/",
                Duration.ofSeconds(6),
                "me",
                "secret",
                new HoldfastProperties.Ssl(null));
        assertThat(redis + " " + redlock + " " + zookeeper + " " + etcd).doesNotContain("secret");
    }

    @Test
    void aProblemIsPrintedWithoutAStackTrace() {
        runner.withPropertyValues("holdfast.backend=hazelcast").run(context -> {
            var analysis = new InvalidLockPropertiesAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).startsWith("holdfast.backend is 'hazelcast'");
            assertThat(analysis.getAction()).isEqualTo("Set it to memory, redis, redlock, zookeeper, etcd or r2dbc.");
        });
    }

    @Test
    void aRefusalOfTheLibraryIsTheCause() {
        runner.withPropertyValues("holdfast.backend=memory", "holdfast.max-hold-time=1s")
                .run(context -> assertThat(Refusal.of(context))
                        .hasCauseInstanceOf(IllegalArgumentException.class)
                        .cause()
                        .hasMessageContaining("maxHoldTime must be at least leaseDuration"));
    }

    private void refused(String message, String... properties) {
        runner.withPropertyValues(properties)
                .run(context -> assertThat(Refusal.of(context)).hasMessageContaining(message));
    }
}
