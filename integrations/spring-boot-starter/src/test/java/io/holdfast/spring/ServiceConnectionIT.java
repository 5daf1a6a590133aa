package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.testcontainers.containers.GenericContainer;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/**
 * Tests {@code @ServiceConnection} with Spring Boot's own code. The servers are real, but the containers are not: each claims to run, and
 * has the address of a server of this machine. So no Docker is needed.
 */
class ServiceConnectionIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    ServiceConnectionAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    HoldfastAutoConfiguration.class));

    /** A server of this machine. */
    static final class Stand extends GenericContainer<Stand> {

        private final Map<Integer, Integer> ports;

        Stand(String image, Map<Integer, Integer> ports) {
            super(image);
            this.ports = ports;
        }

        @Override
        public boolean isRunning() {
            return true;
        }

        @Override
        public void start() {
            throw new AssertionError("it runs");
        }

        @Override
        public void stop() {
            // The server does not belong to the container.
        }

        @Override
        public String getHost() {
            return "127.0.0.1";
        }

        @Override
        public Integer getMappedPort(int port) {
            return ports.get(port);
        }
    }

    record Port(int number) {}

    @Configuration(proxyBeanMethods = false)
    static class WithRedis {

        @Bean
        @ServiceConnection("redis")
        Stand redis(Port port) {
            return new Stand("redis:8", Map.of(6379, port.number()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithValkey {

        @Bean
        @ServiceConnection("valkey/valkey")
        Stand redis(Port port) {
            return new Stand("valkey/valkey:8", Map.of(6379, port.number()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithRedisOfSpringData {

        @Bean
        @ServiceConnection(name = "redis", type = DataRedisConnectionDetails.class)
        Stand redis(Port port) {
            return new Stand("redis:8", Map.of(6379, port.number()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithZooKeeper {

        @Bean
        @ServiceConnection("zookeeper")
        Stand zooKeeper(Port port) {
            return new Stand("zookeeper:3.9", Map.of(2181, port.number()));
        }
    }

    private static void assertLocks(LockClient locks) {
        StepVerifier.create(locks.lock("a").withLock(Mono.just("done")))
                .expectNext("done")
                .expectComplete()
                .verify(PATIENCE);
    }

    @ParameterizedTest
    @ValueSource(classes = {WithRedis.class, WithValkey.class, WithRedisOfSpringData.class})
    void locksAreInTheContainer(Class<?> configuration) {
        try (RedisServer redis = RedisServer.start()) {
            runner.withPropertyValues("holdfast.backend=redis")
                    .withBean(Port.class, () -> new Port(redis.port()))
                    .withUserConfiguration(configuration)
                    .run(context -> assertLocks(context.getBean(LockClient.class)));
        }
    }

    /** For example a test of an application whose properties name the production server. */
    @Test
    void aContainerReplacesTheProperties() {
        try (RedisServer redis = RedisServer.start()) {
            runner.withPropertyValues(
                            "holdfast.backend=redis",
                            "holdfast.redis.uri=redis://127.0.0.1:1",
                            "spring.data.redis.host=production")
                    .withBean(Port.class, () -> new Port(redis.port()))
                    .withUserConfiguration(WithRedis.class)
                    .run(context -> {
                        assertLocks(context.getBean(LockClient.class));
                        assertThat(context.getBean(DataRedisConnectionDetails.class)
                                        .getStandalone()
                                        .getPort())
                                .as("connection details of Spring Data")
                                .isEqualTo(redis.port());
                    });
        }
    }

    @Test
    void aContainerIsIgnoredForAnotherBackEnd() {
        runner.withPropertyValues("holdfast.backend=memory")
                .withBean(Port.class, () -> new Port(1))
                .withUserConfiguration(WithRedis.class)
                .run(context -> assertLocks(context.getBean(LockClient.class)));
    }

    @Test
    void theMastersOfARedlockComeFromABean() {
        try (RedisServer one = RedisServer.start();
                RedisServer two = RedisServer.start();
                RedisServer three = RedisServer.start()) {
            List<RedisURI> masters =
                    List.of(RedisURI.create(one.uri()), RedisURI.create(two.uri()), RedisURI.create(three.uri()));
            runner.withPropertyValues(
                            "holdfast.backend=redlock",
                            "holdfast.redlock.quarantine=0s",
                            "holdfast.redlock.uris=redis://127.0.0.1:1")
                    .withBean(RedlockConnectionDetails.class, () -> () -> masters)
                    .run(context -> assertLocks(context.getBean(LockClient.class)));
        }
    }

    @Test
    void locksAreInTheContainerOfZooKeeper() throws Exception {
        try (TestingServer server = new TestingServer()) {
            runner.withPropertyValues("holdfast.backend=zookeeper", "holdfast.zookeeper.connect-string=127.0.0.1:1")
                    .withBean(Port.class, () -> new Port(server.getPort()))
                    .withUserConfiguration(WithZooKeeper.class)
                    .run(context -> assertLocks(context.getBean(LockClient.class)));
        }
    }
}
