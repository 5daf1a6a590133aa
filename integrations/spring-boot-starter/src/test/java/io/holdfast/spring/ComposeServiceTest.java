package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetailsFactories;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.docker.compose.core.ConnectionPorts;
import org.springframework.boot.docker.compose.core.ImageReference;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;

/** Addresses from services of Docker Compose, through the factories that Spring Boot finds. No Docker is needed. */
class ComposeServiceTest {

    /** The output of {@code docker compose ps} for a service. */
    private record Service(String imageName, Map<String, String> labels, int inside, int outside)
            implements RunningService, ConnectionPorts {

        @Override
        public String name() {
            return "service-1";
        }

        @Override
        public ImageReference image() {
            return ImageReference.of(imageName);
        }

        @Override
        public String host() {
            return "127.0.0.1";
        }

        @Override
        public ConnectionPorts ports() {
            return this;
        }

        @Override
        public Map<String, @Nullable String> env() {
            return Map.of();
        }

        @Override
        public int get(int containerPort) {
            if (containerPort != inside) {
                throw new IllegalStateException("no port " + containerPort);
            }
            return outside;
        }

        @Override
        public List<Integer> getAll() {
            return List.of(outside);
        }

        @Override
        public List<Integer> getAll(@Nullable String protocol) {
            return getAll();
        }
    }
    /** Makes the details in the same way as Spring Boot when the service runs. */
    private static Map<Class<?>, ConnectionDetails> details(Service service) throws NoSuchMethodException {
        var source = BeanUtils.instantiateClass(
                DockerComposeConnectionSource.class.getDeclaredConstructor(RunningService.class, Environment.class),
                service,
                new StandardEnvironment());
        return new ConnectionDetailsFactories(null).getConnectionDetails(source, false);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"redis", "redis:8", "valkey/valkey:8.1", "redis/redis-stack-server", "docker.io/library/redis:7"
            })
    void locksAreInARedisOfCompose(String image) throws NoSuchMethodException {
        var details = (RedisLockConnectionDetails)
                details(new Service(image, Map.of(), 6379, 40_001)).get(RedisLockConnectionDetails.class);

        assertThat(details.getUri()).isEqualTo(RedisURI.create("127.0.0.1", 40_001));
        assertThat(details.getSslBundle()).isNull();
        assertThat(details.getClusterUris()).isEmpty();
    }

    @Test
    void locksAreInAZooKeeperOfCompose() throws NoSuchMethodException {
        var details = (ZooKeeperLockConnectionDetails)
                details(new Service("zookeeper:3.9", Map.of(), 2181, 40_002)).get(ZooKeeperLockConnectionDetails.class);

        assertThat(details.getConnectString()).isEqualTo("127.0.0.1:40002");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"quay.io/coreos/etcd:v3.5.21", "gcr.io/etcd-development/etcd:v3.5.21", "bitnami/etcd", "etcd:3"})
    void locksAreInAnEtcdOfCompose(String image) throws NoSuchMethodException {
        var details = (EtcdLockConnectionDetails)
                details(new Service(image, Map.of(), 2379, 40_003)).get(EtcdLockConnectionDetails.class);

        assertThat(details.getEndpoints()).containsExactly("http://127.0.0.1:40003");
        assertThat(details.getSslBundle()).isNull();
    }

    @Test
    void aLabelNamesTheKindOfAnotherImage() throws NoSuchMethodException {
        String label = "org.springframework.boot.service-connection";

        assertThat(details(new Service("mine/store:1", Map.of(), 6379, 40_001))).isEmpty();
        assertThat(details(new Service("mine/store:1", Map.of(label, "redis"), 6379, 40_001)))
                .containsKeys(RedisLockConnectionDetails.class, DataRedisConnectionDetails.class);
    }
}
