package io.holdfast.spring;

import io.holdfast.spring.RedisOfSpringData.Details;
import io.holdfast.spring.RedisOfSpringData.Sentinels;
import io.holdfast.spring.RedisOfSpringData.Server;
import io.holdfast.spring.RedisOfSpringData.Settings;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails.Cluster;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails.Node;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails.Sentinel;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails.Standalone;
import org.springframework.boot.autoconfigure.data.redis.RedisProperties;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.core.env.Environment;

/** The server of Spring Data in Spring Boot 3. */
final class RedisOfSpringBoot3 {

    private RedisOfSpringBoot3() {}

    /** Without properties, the application defines the details and Spring Boot's configuration is missing. */
    static RedisOfSpringData of(
            RedisConnectionDetails details, @Nullable RedisProperties properties, Environment environment) {
        // Details of containers, of Docker Compose and of applications are in other packages.
        boolean isOfProperties =
                details.getClass().getPackageName().equals(RedisConnectionDetails.class.getPackageName());
        Settings settings = properties == null
                ? Settings.NONE
                : new Settings(properties.getUrl(), properties.getClientName(), properties.getConnectTimeout());
        return new RedisOfSpringData(isOfProperties, () -> read(details, settings), environment);
    }

    private static Details read(RedisConnectionDetails details, Settings settings) {
        Standalone standalone = details.getStandalone();
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
                bundle(standalone, sentinel, cluster),
                settings);
    }

    private static List<Server> servers(List<Node> nodes) {
        return nodes.stream().map(it -> new Server(it.host(), it.port(), 0)).toList();
    }

    private static @Nullable SslBundle bundle(
            @Nullable Standalone standalone, @Nullable Sentinel sentinel, @Nullable Cluster cluster) {
        if (sentinel != null) {
            return sentinel.getSslBundle();
        }
        if (cluster != null) {
            return cluster.getSslBundle();
        }
        return standalone == null ? null : standalone.getSslBundle();
    }
}
