package io.holdfast.spring;

import io.holdfast.redis.RedisAddress;
import io.lettuce.core.RedisURI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/** Reads the addresses of servers from properties. */
final class RedisAddresses {

    private RedisAddresses() {}

    /** One server, sentinels or a cluster. */
    record OneDeployment(
            @Nullable RedisURI getUri,
            List<RedisURI> getClusterUris,
            @Nullable SslBundle getSslBundle) implements RedisLockConnectionDetails {}

    private record Masters(List<RedisURI> getUris, @Nullable SslBundle getSslBundle)
            implements RedlockConnectionDetails {}

    /**
     * Returns the addresses under {@code holdfast.redis}, or else the server of Spring Data.
     *
     * @param shared the server of Spring Data; null without Spring Boot's support of Redis
     */
    static RedisLockConnectionDetails redis(
            HoldfastProperties.Redis properties, ObjectProvider<SslBundles> bundles, @Nullable SharedRedis shared) {
        SslBundle bundle =
                NamedBundles.find("holdfast.redis.ssl.bundle", properties.ssl().bundle(), bundles);
        boolean isCluster = !properties.clusterUris().isEmpty();
        if (properties.uri() != null && isCluster) {
            throw new InvalidLockPropertiesException(
                    "holdfast.redis.uri and holdfast.redis.cluster-uris are both set.",
                    "Set the first for a standalone server or sentinels, such as redis://localhost:6379, the second for a cluster.");
        }
        if (properties.uri() != null) {
            return new OneDeployment(address("holdfast.redis.uri", properties.uri()), List.of(), bundle);
        }
        if (isCluster) {
            return new OneDeployment(null, addresses("holdfast.redis.cluster-uris", properties.clusterUris()), bundle);
        }
        RedisLockConnectionDetails found = shared == null ? null : shared.find();
        if (found == null) {
            throw noAddress();
        }
        return bundle == null ? found : new OneDeployment(found.getUri(), found.getClusterUris(), bundle);
    }

    private static InvalidLockPropertiesException noAddress() {
        return new InvalidLockPropertiesException(
                "holdfast.backend is redis, but neither holdfast.redis.uri nor holdfast.redis.cluster-uris is set, nor an address under spring.data.redis, such as spring.data.redis.host. The address of a RedisConnectionFactory bean is not used.",
                "Set the first for a standalone server or sentinels, such as redis://localhost:6379, the second for a cluster, or spring.data.redis.host to share the server with Spring Data.");
    }

    static RedlockConnectionDetails redlock(HoldfastProperties.Redlock properties, ObjectProvider<SslBundles> bundles) {
        return new Masters(
                addresses("holdfast.redlock.uris", properties.uris()),
                NamedBundles.find(
                        "holdfast.redlock.ssl.bundle", properties.ssl().bundle(), bundles));
    }

    /** Returns the source of the addresses, for messages. */
    static String sourceOf(RedlockConnectionDetails masters) {
        return masters instanceof Masters ? "holdfast.redlock.uris" : "The RedlockConnectionDetails bean";
    }

    private static List<RedisURI> addresses(String property, List<String> texts) {
        return texts.stream().map(text -> address(property, text)).toList();
    }

    /** The message and its cause never repeat the address, which may contain a password. */
    private static RedisURI address(String property, String text) {
        try {
            return RedisAddress.parse(text);
        } catch (IllegalArgumentException unreadable) {
            throw new InvalidLockPropertiesException(
                    property + " has a value that is not a Redis address.",
                    "What is wrong: %s.".formatted(unreadable.getMessage()));
        }
    }
}
