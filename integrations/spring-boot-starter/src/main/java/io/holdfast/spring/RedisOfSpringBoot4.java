package io.holdfast.spring;

import io.holdfast.spring.RedisOfSpringData.Details;
import io.holdfast.spring.RedisOfSpringData.Sentinels;
import io.holdfast.spring.RedisOfSpringData.Server;
import io.holdfast.spring.RedisOfSpringData.Settings;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Cluster;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Sentinel;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.core.env.Environment;

/** The server of Spring Data in Spring Boot 4. */
final class RedisOfSpringBoot4 {

    private RedisOfSpringBoot4() {}

    /** Without properties, the application defines the details and Spring Boot's configuration is missing. */
    static RedisOfSpringData of(
            DataRedisConnectionDetails details, @Nullable DataRedisProperties properties, Environment environment) {
        // Details of containers, of Docker Compose and of applications are in other packages.
        boolean isOfProperties =
                details.getClass().getPackageName().equals(DataRedisConnectionDetails.class.getPackageName());
        Settings settings = properties == null
                ? Settings.NONE
                : new Settings(properties.getUrl(), properties.getClientName(), properties.getConnectTimeout());
        return new RedisOfSpringData(isOfProperties, () -> read(details, settings), environment);
    }

    private static Details read(DataRedisConnectionDetails details, Settings settings) {
        Standalone standalone = details.getMasterReplica() == null ? details.getStandalone() : null;
        Sentinel sentinel = details.getSentinel();
        Cluster cluster = details.getCluster();
        return new Details(
                standalone == null
                        ? null
                        : new Server(standalone.getHost(), standalone.getPort(), standalone.getDatabase()),
                sentinel == null
                        ? null
                        : new Sentinels(
                                sentinel.getMaster(),
                                sentinel.getDatabase(),
                                servers(sentinel.getNodes()),
                                sentinel.getUsername(),
                                sentinel.getPassword()),
                cluster == null ? List.of() : servers(cluster.getNodes()),
                details.getUsername(),
                details.getPassword(),
                details.getSslBundle(),
                settings);
    }

    private static List<Server> servers(List<Node> nodes) {
        return nodes.stream().map(it -> new Server(it.host(), it.port(), 0)).toList();
    }
}
