package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Publisher;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import reactor.core.publisher.Mono;

/** Settings of the back end beyond properties. No server is needed. */
class BackEndCustomizersTest {

    private static final String[] REDIS = {"holdfast.backend=redis", "holdfast.redis.uri=redis://127.0.0.1:1"};
    private static final String[] REDLOCK = {
        "holdfast.backend=redlock", "holdfast.redlock.uris=redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3"
    };

    private final List<String> asked = new ArrayList<>();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
            .withBean(Lines.class, () -> asked::add);

    interface Lines {
        void write(String line);
    }

    /** Two customizers of each kind. The second one is defined first. */
    @Configuration(proxyBeanMethods = false)
    static class Customizers {

        @Bean
        @Order(2)
        RedisLockBackendCustomizer secondOfRedis(Lines lines) {
            return builder -> recorded(lines, "redis 2", builder.claimTime(Duration.ofSeconds(1)));
        }

        @Bean
        @Order(1)
        RedisLockBackendCustomizer firstOfRedis(Lines lines) {
            return builder -> recorded(lines, "redis 1", builder.lossByPush(true));
        }

        @Bean
        @Order(2)
        RedlockBackendCustomizer secondOfRedlock(Lines lines) {
            return builder -> recorded(lines, "redlock 2", builder.names(List.of("a", "b", "c")));
        }

        @Bean
        @Order(1)
        RedlockBackendCustomizer firstOfRedlock(Lines lines) {
            return builder -> recorded(lines, "redlock 1", builder.masterTimeLimit(Duration.ofSeconds(1)));
        }

        @Bean
        @Order(2)
        ZooKeeperLockBackendCustomizer secondOfZooKeeper(Lines lines) {
            return builder -> recorded(lines, "zookeeper 2", builder.failFast(true));
        }

        @Bean
        @Order(1)
        ZooKeeperLockBackendCustomizer firstOfZooKeeper(Lines lines) {
            return builder -> recorded(lines, "zookeeper 1", builder.maxWaiters(10));
        }

        @Bean
        @Order(2)
        EtcdLockBackendCustomizer secondOfEtcd(Lines lines) {
            return builder -> recorded(lines, "etcd 2", builder.keyPrefix("shop/"));
        }

        @Bean
        @Order(1)
        EtcdLockBackendCustomizer firstOfEtcd(Lines lines) {
            return builder -> recorded(lines, "etcd 1", builder.maxWaiters(10));
        }

        @Bean
        @Order(2)
        R2dbcLockBackendCustomizer secondOfR2dbc(Lines lines) {
            return builder -> recorded(lines, "r2dbc 2", builder.address("db"));
        }

        @Bean
        @Order(1)
        R2dbcLockBackendCustomizer firstOfR2dbc(Lines lines) {
            return builder -> recorded(lines, "r2dbc 1", builder.claimTime(Duration.ofSeconds(1)));
        }

        private static <B> B recorded(Lines lines, String line, B builder) {
            lines.write(line);
            return builder;
        }
    }

    private List<String> calls(ApplicationContextRunner with) {
        with.withUserConfiguration(Customizers.class)
                .run(context -> assertThat(context).hasNotFailed());
        return asked;
    }

    @Test
    void customizersOfRedisAreCalledInOrder() {
        assertThat(calls(runner.withPropertyValues(REDIS))).containsExactly("redis 1", "redis 2");
    }

    @Test
    void customizersOfRedisAreCalledForEachMasterOfARedlock() {
        assertThat(calls(runner.withPropertyValues(REDLOCK)))
                .containsExactly(
                        "redis 1", "redis 2", "redis 1", "redis 2", "redis 1", "redis 2", "redlock 1", "redlock 2");
    }

    @Test
    void customizersOfZooKeeperAreCalledInOrder() {
        assertThat(calls(runner.withPropertyValues("holdfast.backend=zookeeper")
                        .withBean(
                                CuratorFramework.class,
                                () -> CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(1)))))
                .containsExactly("zookeeper 1", "zookeeper 2");
    }

    @Test
    void customizersOfEtcdAreCalledInOrder() {
        assertThat(calls(runner.withPropertyValues(
                        "holdfast.backend=etcd", "holdfast.etcd.endpoints=http://127.0.0.1:1")))
                .containsExactly("etcd 1", "etcd 2");
    }

    private record Database() implements ConnectionFactory {

        @Override
        public Publisher<? extends Connection> create() {
            return Mono.error(new UnsupportedOperationException("no connection before the first use"));
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return () -> "PostgreSQL";
        }
    }

    @Test
    void customizersOfTheDatabaseAreCalledInOrder() {
        assertThat(calls(runner.withPropertyValues("holdfast.backend=r2dbc")
                        .withBean(ConnectionFactory.class, Database::new)))
                .containsExactly("r2dbc 1", "r2dbc 2");
    }

    /** The properties are set before the customizer is called, and the builder that it returns is built. */
    @Test
    void settingsOfACustomizerAreInForce() {
        runner.withPropertyValues(REDIS)
                .withBean(
                        RedisLockBackendCustomizer.class,
                        () -> builder -> RedisLockBackend.builder(RedisURI.create("127.0.0.1", 2))
                                .quarantine(Duration.ofSeconds(1)))
                .run(context -> assertThat(Refusal.of(context)).hasMessageContaining("quarantine"));
        runner.withPropertyValues(REDIS)
                .withBean(RedisLockBackendCustomizer.class, () -> builder -> builder.keyPrefix("a{b"))
                .run(context -> assertThat(Refusal.of(context))
                        .hasMessageContaining("keyPrefix must have no whitespace and no braces")
                        .hasMessageContaining("or the customizer that set it"));
    }

    @Test
    void mastersEndWhenACustomizerOfTheRedlockIsRefused() {
        List<RedisLockBackend> masters = RedisLockBackend.buildTogether(
                Stream.generate(() -> RedisLockBackend.builder(RedisURI.create("127.0.0.1", 1)))
                        .limit(3)
                        .toList());

        assertThatThrownBy(() -> RedisBackends.over(masters, List.of(builder -> builder.names(List.of("too few")))))
                .hasMessageContaining("names must be a different one for each");

        assertThat(masters)
                .allSatisfy(it -> assertThatThrownBy(() -> it.ping().block(Duration.ofSeconds(10)))
                        .hasMessageContaining("closed"));
    }

    @Test
    void mastersOfABeanAreCheckedLikeThoseOfProperties() {
        runner.withPropertyValues("holdfast.backend=redlock")
                .withBean(RedlockConnectionDetails.class, () -> () -> List.of(RedisURI.create("127.0.0.1", 1)))
                .run(context -> assertThat(Refusal.of(context))
                        .hasMessageContaining("The RedlockConnectionDetails bean has 1 servers"));
    }

    /** Driver resources that record whether they were used. */
    private static ClientResources watched(ClientResources given, List<String> used) {
        return (ClientResources) Proxy.newProxyInstance(
                ClientResources.class.getClassLoader(),
                new Class<?>[] {ClientResources.class},
                (proxy, method, args) -> {
                    used.add(method.getName());
                    return method.invoke(given, args);
                });
    }

    @ParameterizedTest
    @CsvSource({
        "redis, holdfast.redis.share-client-resources=true, true",
        "redis, any=thing, false",
        "redlock, holdfast.redlock.share-client-resources=true, true",
        "redlock, any=thing, false"
    })
    void driverResourcesOfTheApplicationAreUsedOnRequest(String backend, String property, boolean areUsed) {
        List<String> used = new ArrayList<>();
        ClientResources given = DefaultClientResources.create();
        runner.withPropertyValues(backend.equals("redis") ? REDIS : REDLOCK)
                .withPropertyValues(property)
                .withBean(
                        ClientResources.class,
                        () -> watched(given, used),
                        definition -> definition.setDestroyMethodName(""))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(!used.isEmpty()).isEqualTo(areUsed);
                });
        assertThat(used).doesNotContain("shutdown");
        given.shutdown(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void missingDriverResourcesAreRefused() {
        runner.withPropertyValues(REDIS)
                .withPropertyValues("holdfast.redis.share-client-resources=true")
                .run(context -> assertThat(Refusal.of(context))
                        .hasMessageContaining("the application has no ClientResources bean, or several"));
    }
}
