package io.holdfast.spring;

import io.holdfast.spring.RedisAddresses.OneDeployment;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Sentinel;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The server of Spring Data: from {@code spring.data.redis}, a container, or a service of Docker Compose. It is read only if the locks need
 * it.
 *
 * @param details the details from Spring Boot's properties, or from a bean that replaces them
 * @param properties the properties; null if the application defines the details and Spring Boot's configuration is missing
 */
record RedisOfSpringData(
        DataRedisConnectionDetails details, @Nullable DataRedisProperties properties, Environment environment)
        implements SharedRedis {

    /**
     * Properties with the address of the server. Without any of them, Spring Boot uses its default address, which the application has not
     * chosen.
     */
    private static final List<String> ADDRESSES =
            List.of("url", "host", "port", "sentinel.nodes", "cluster.nodes", "masterreplica.nodes");

    @Override
    public @Nullable RedisLockConnectionDetails find() {
        if (isOfProperties() && ADDRESSES.stream().noneMatch(this::isSet)) {
            return null;
        }
        SslBundle bundle = details.getSslBundle();
        boolean hasTls = bundle != null || (isOfProperties() && url().startsWith("rediss:"));
        return readable(() -> found(hasTls, bundle));
    }

    /** Chooses in the same way as Spring Boot. */
    private OneDeployment found(boolean hasTls, @Nullable SslBundle bundle) {
        Sentinel sentinel = details.getSentinel();
        if (sentinel != null) {
            return new OneDeployment(sentinels(sentinel, hasTls), List.of(), bundle);
        }
        DataRedisConnectionDetails.Cluster cluster = details.getCluster();
        if (cluster != null) {
            List<RedisURI> seeds = cluster.getNodes().stream()
                    .map(it -> server(it.host(), it.port(), 0, hasTls))
                    .toList();
            return new OneDeployment(null, seeds, bundle);
        }
        Standalone standalone = details.getStandalone();
        if (standalone == null || details.getMasterReplica() != null) {
            throw new InvalidLockPropertiesException(
                    "holdfast.backend is redis, and Spring Data has a master with replicas: another server may become the master, and locks must be at the master.",
                    "Set holdfast.redis.uri to the sentinels, or to the master if it stays.");
        }
        return new OneDeployment(
                server(standalone.getHost(), standalone.getPort(), standalone.getDatabase(), hasTls),
                List.of(),
                bundle);
    }

    private RedisURI server(String host, int port, int database, boolean hasTls) {
        RedisURI.Builder uri = RedisURI.builder().withHost(host).withPort(port).withDatabase(database);
        return finished(uri, details.getUsername(), details.getPassword(), hasTls);
    }

    private RedisURI sentinels(Sentinel sentinel, boolean hasTls) {
        RedisURI.Builder uri =
                RedisURI.builder().withSentinelMasterId(sentinel.getMaster()).withDatabase(sentinel.getDatabase());
        for (Node node : sentinel.getNodes()) {
            RedisURI.Builder one = RedisURI.builder().withHost(node.host()).withPort(node.port());
            uri.withSentinel(finished(one, sentinel.getUsername(), sentinel.getPassword(), hasTls));
        }
        return finished(uri, details.getUsername(), details.getPassword(), hasTls);
    }

    private RedisURI finished(RedisURI.Builder uri, @Nullable String user, @Nullable String password, boolean hasTls) {
        if (StringUtils.hasText(user) && password != null) {
            uri.withAuthentication(user, password.toCharArray());
        } else if (StringUtils.hasText(password)) {
            uri.withPassword(password.toCharArray());
        }
        if (properties != null && StringUtils.hasText(properties.getClientName())) {
            uri.withClientName(properties.getClientName());
        }
        Duration limit = properties == null ? null : properties.getConnectTimeout();
        return (limit == null ? uri : uri.withTimeout(limit)).withSsl(hasTls).build();
    }

    /** Details of containers, of Docker Compose and of applications are in other packages. */
    private boolean isOfProperties() {
        return details.getClass().getPackageName().equals(DataRedisConnectionDetails.class.getPackageName());
    }

    private boolean isSet(String name) {
        return Binder.get(environment)
                .bind("spring.data.redis." + name, Object.class)
                .isBound();
    }

    private String url() {
        return properties == null || properties.getUrl() == null ? "" : properties.getUrl();
    }

    /** Errors of Spring Boot repeat the URL, which may contain a password. So they must not be a cause either. */
    private static <T> T readable(Supplier<T> addresses) {
        try {
            return addresses.get();
        } catch (InvalidLockPropertiesException ours) {
            throw ours;
        } catch (RuntimeException unreadable) {
            throw new InvalidLockPropertiesException(
                    "An address under spring.data.redis cannot be read.",
                    "Write spring.data.redis.url as redis://host:port, and each node as host:port, or set holdfast.redis.uri.");
        }
    }
}
