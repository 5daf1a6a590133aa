package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.RedisLockBackend;
import io.holdfast.spi.LockBackend;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Locks use the server of Spring Data if the application names no other one. No server is needed. */
class RedisOfSpringDataTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    HoldfastAutoConfiguration.class, DataRedisAutoConfiguration.class, SslAutoConfiguration.class))
            .withPropertyValues("holdfast.backend=redis");

    private RedisLockConnectionDetails found(String... properties) {
        var found = new AtomicReference<RedisLockConnectionDetails>();
        runner.withPropertyValues(properties).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context).getBean(LockBackend.class).isInstanceOf(RedisLockBackend.class);
            found.set(context.getBean(RedisLockConnectionDetails.class));
        });
        return found.get();
    }

    private static String password(RedisURI uri) {
        var credentials = uri.getCredentialsProvider().resolveCredentials().block(Duration.ofSeconds(10));
        return credentials.getUsername() + ":"
                + (credentials.hasPassword() ? new String(credentials.getPassword()) : "none");
    }

    @Test
    void hostPortDatabaseAndCredentialsAreShared() {
        RedisURI uri = found(
                        "spring.data.redis.host=cache",
                        "spring.data.redis.port=7000",
                        "spring.data.redis.database=3",
                        "spring.data.redis.username=me",
                        "spring.data.redis.password=se/cr@t",
                        "spring.data.redis.client-name=shop",
                        "spring.data.redis.connect-timeout=3s")
                .getUri();

        assertThat(uri)
                .extracting(
                        RedisURI::getHost,
                        RedisURI::getPort,
                        RedisURI::getDatabase,
                        RedisURI::getClientName,
                        RedisURI::getTimeout,
                        RedisURI::isSsl)
                .containsExactly("cache", 7000, 3, "shop", Duration.ofSeconds(3), false);
        assertThat(password(uri)).isEqualTo("me:se/cr@t");
    }

    @ParameterizedTest
    @CsvSource({
        "redis://cache:7001/2, cache, 7001, 2, false, null:none",
        "rediss://me:secret@cache:7001, cache, 7001, 0, true, me:secret",
        "redis://:secret@cache:7001, cache, 7001, 0, false, null:secret"
    })
    void theUrlIsShared(String url, String host, int port, int database, boolean hasTls, String credentials) {
        RedisURI uri = found("spring.data.redis.url=" + url).getUri();

        assertThat(uri)
                .extracting(RedisURI::getHost, RedisURI::getPort, RedisURI::getDatabase, RedisURI::isSsl)
                .containsExactly(host, port, database, hasTls);
        assertThat(password(uri)).isEqualTo(credentials);
    }

    @Test
    void sentinelsAreSharedWithTheirOwnCredentials() {
        RedisURI uri = found(
                        "spring.data.redis.sentinel.master=main",
                        "spring.data.redis.sentinel.nodes=s1:26379,s2:26380",
                        "spring.data.redis.sentinel.password=watch",
                        "spring.data.redis.password=secret",
                        "spring.data.redis.database=2",
                        "spring.data.redis.ssl.enabled=true")
                .getUri();

        assertThat(uri.getSentinelMasterId()).isEqualTo("main");
        assertThat(uri.getDatabase()).isEqualTo(2);
        assertThat(password(uri)).isEqualTo("null:secret");
        assertThat(uri.getSentinels()).extracting(RedisURI::getHost).containsExactly("s1", "s2");
        assertThat(uri.getSentinels()).extracting(RedisURI::getPort).containsExactly(26379, 26380);
        assertThat(uri.getSentinels())
                .allMatch(RedisURI::isSsl)
                .allMatch(it -> password(it).equals("null:watch"));
    }

    @Test
    void aClusterIsShared() {
        RedisLockConnectionDetails found = found(
                "spring.data.redis.cluster.nodes=h1:7000,h2:7001",
                "spring.data.redis.password=secret",
                "spring.data.redis.database=1");

        assertThat(found.getUri()).isNull();
        assertThat(found.getClusterUris()).extracting(RedisURI::getHost).containsExactly("h1", "h2");
        assertThat(found.getClusterUris()).allMatch(it -> password(it).equals("null:secret"));
    }

    @Test
    void tlsIsShared() {
        assertThat(found("spring.data.redis.host=cache", "spring.data.redis.ssl.enabled=true")
                        .getSslBundle())
                .isNotNull();
        assertThat(found("spring.data.redis.host=cache").getSslBundle()).isNull();
    }

    @Test
    void anAddressOfTheLocksReplacesThatOfSpringData() {
        RedisLockConnectionDetails found =
                found("spring.data.redis.host=cache", "holdfast.redis.uri=redis://locks:7000");

        assertThat(found.getUri().getHost()).isEqualTo("locks");
    }

    @ParameterizedTest
    @ValueSource(strings = {"any=thing", "spring.data.redis.password=secret"})
    void theDefaultAddressOfSpringIsNotAChoice(String property) {
        runner.withPropertyValues(property)
                .run(context -> assertThat(Refusal.of(context))
                        .hasMessageContaining("nor an address under spring.data.redis")
                        .message()
                        .doesNotContain("secret"));
    }

    @Test
    void theAddressOfAConnectionFactoryIsNotUsed() {
        runner.withBean(RedisConnectionFactory.class, () -> new LettuceConnectionFactory("elsewhere", 6379))
                .run(context -> assertThat(Refusal.of(context))
                        .hasMessageContaining("The address of a RedisConnectionFactory bean is not used"));
    }

    @Test
    void addressesOfBeansCountEvenIfTheyAreTheDefault() {
        runner.withBean(DataRedisConnectionDetails.class, () -> new DataRedisConnectionDetails() {
                    @Override
                    public Standalone getStandalone() {
                        return Standalone.of("localhost", 6379);
                    }
                })
                .run(context -> assertThat(context.getBean(RedisLockConnectionDetails.class)
                                .getUri())
                        .isEqualTo(RedisURI.create("localhost", 6379)));
    }

    @Test
    void aMasterWithReplicasIsRefused() {
        runner.withPropertyValues("spring.data.redis.masterreplica.nodes=h1:7000,h2:7001")
                .run(context -> assertThat(Refusal.of(context)).hasMessageContaining("a master with replicas"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.data.redis.url=redis://me:se cret@cache",
                "spring.data.redis.url=http://me:secret@cache",
                "spring.data.redis.url=redis://me:secret@cache"
            })
    void anAddressThatCannotBeReadIsNotRepeated(String property) {
        // Spring Data's own connections are left out: they would fail first, and Spring Boot's message repeats the URL.
        runner.withBean(RedisConnectionFactory.class, () -> new LettuceConnectionFactory("elsewhere", 6379))
                .withPropertyValues(property)
                .run(context -> assertThat(Refusal.of(context))
                        .hasMessageContaining("An address under spring.data.redis cannot be read")
                        .hasNoCause()
                        .message()
                        .doesNotContain("cret"));
    }

    @Test
    void springDataIsNotNeeded() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader("org.springframework.data", "org.springframework.boot.data"))
                .withPropertyValues("holdfast.backend=redis", "holdfast.redis.uri=redis://locks:7000")
                .run(context -> assertThat(context).getBean(LockBackend.class).isInstanceOf(RedisLockBackend.class));
    }

    @Test
    void aBeanOfTheApplicationReplacesAllAddresses() {
        RedisURI mine = RedisURI.create("mine", 7000);
        runner.withPropertyValues("spring.data.redis.host=cache", "holdfast.redis.uri=redis://locks:7000")
                .withBean(RedisLockConnectionDetails.class, () -> new RedisLockConnectionDetails() {
                    @Override
                    public RedisURI getUri() {
                        return mine;
                    }
                })
                .run(context -> {
                    assertThat(context).getBean(LockBackend.class).isInstanceOf(RedisLockBackend.class);
                    assertThat(context).hasSingleBean(RedisLockConnectionDetails.class);
                });
    }

    @Test
    void aBeanThatNamesNoServerOrTwoKindsIsRefused() {
        runner.withBean(RedisLockConnectionDetails.class, () -> new RedisLockConnectionDetails() {})
                .run(context -> assertThat(Refusal.of(context)).hasMessageContaining("names no server"));
        runner.withBean(
                        RedisLockConnectionDetails.class,
                        () -> new RedisAddresses.OneDeployment(
                                RedisURI.create("a", 1), List.of(RedisURI.create("b", 2)), null))
                .run(context -> assertThat(Refusal.of(context)).hasMessageContaining("both a server and a cluster"));
    }
}
