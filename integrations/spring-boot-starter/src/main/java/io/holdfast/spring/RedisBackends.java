package io.holdfast.spring;

import io.holdfast.LockInspector;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/**
 * Makes back ends in Redis from addresses and properties.
 *
 * @param resources the resources of the application; null to let the back ends create their own
 * @param customizers the customizers in their order
 */
record RedisBackends(@Nullable ClientResources resources, List<RedisLockBackendCustomizer> customizers) {

    RedisLockBackend.Builder redis(RedisLockConnectionDetails connection, HoldfastProperties.Redis properties) {
        RedisURI uri = connection.getUri();
        List<RedisURI> cluster = connection.getClusterUris();
        if (cluster.isEmpty() == (uri == null)) {
            throw new InvalidLockPropertiesException(
                    "The RedisLockConnectionDetails bean names %s."
                            .formatted(uri == null ? "no server" : "both a server and a cluster"),
                    "Return an address from one of getUri and getClusterUris.");
        }
        SslBundle bundle = connection.getSslBundle();
        RedisLockBackend.Builder builder = uri != null
                ? RedisLockBackend.builder(RedisTls.address(uri, bundle))
                : RedisLockBackend.clusterBuilder(
                        cluster.stream().map(it -> RedisTls.address(it, bundle)).toList());
        return customized(RedisTls.certificates(builder, bundle)
                .keyPrefix(properties.keyPrefix())
                .keepTokens(properties.keepTokens()));
    }

    static LockBackend redlock(List<RedisLockBackend.Builder> masters, List<RedlockBackendCustomizer> ofTheMajority) {
        return over(RedisLockBackend.buildTogether(masters), ofTheMajority);
    }

    /** Makes an inspector of the locks that a majority knows. */
    static LockInspector inspector(List<RedisLockBackend.Builder> masters) {
        Map<String, LockInspector> inspectors = new LinkedHashMap<>();
        masters.forEach(master -> inspectors.put("redis " + (inspectors.size() + 1), master.inspector()));
        return RedlockBackend.inspector(inspectors);
    }

    List<RedisLockBackend.Builder> masters(
            RedlockConnectionDetails connection, HoldfastProperties.Redlock properties, Duration leaseDuration) {
        List<RedisURI> servers = connection.getUris();
        SslBundle bundle = connection.getSslBundle();
        Duration quarantine = quarantine(properties.quarantine(), leaseDuration);
        String source = RedisAddresses.sourceOf(connection);
        requireOddNumber(source, servers.size());
        requireDistinct(source, servers);
        // All settings of a master are checked before there is a master that must be closed.
        return servers.stream()
                .map(server -> RedisTls.certificates(RedisLockBackend.builder(RedisTls.address(server, bundle)), bundle)
                        .keyPrefix(properties.keyPrefix())
                        .keepTokens(properties.keepTokens())
                        .quarantine(quarantine))
                .map(this::customized)
                .toList();
    }

    static LockBackend over(List<RedisLockBackend> masters, List<RedlockBackendCustomizer> customizers) {
        try {
            RedlockBackend.Builder builder = RedlockBackend.builder(masters);
            for (RedlockBackendCustomizer customizer : customizers) {
                builder = customizer.customize(builder);
            }
            return builder.build();
        } catch (RuntimeException refused) {
            for (RedisLockBackend master : masters) {
                var unused = master.close(); // starts with the call
            }
            throw refused;
        }
    }

    private RedisLockBackend.Builder customized(RedisLockBackend.Builder given) {
        RedisLockBackend.Builder builder = resources == null ? given : given.resources(resources);
        for (RedisLockBackendCustomizer customizer : customizers) {
            builder = customizer.customize(builder);
        }
        return builder;
    }

    /** Returns the quarantine. The default is the longest lease of this client in the properties. */
    static Duration quarantine(@Nullable Duration set, Duration leaseDuration) {
        if (set == null) {
            return leaseDuration;
        }
        if (!set.isZero() && set.compareTo(leaseDuration) < 0) {
            throw new InvalidLockPropertiesException(
                    "holdfast.redlock.quarantine is %s, shorter than holdfast.lease-duration, which is %s: a server that comes back without its locks would vote while they are held."
                            .formatted(set, leaseDuration),
                    "Set it to the longest lease of all clients of these servers, in all applications, or to 0s if each server writes every grant to its disk before it answers.");
        }
        return set;
    }

    private static void requireOddNumber(String source, int servers) {
        if (servers < 3 || servers % 2 == 0) {
            throw new InvalidLockPropertiesException(
                    "%s has %d servers.".formatted(source, servers),
                    "Name an odd number of them, at least three: when one is unreachable, the others must be a majority.");
        }
    }

    /** Refuses a server that is named twice: it would have two votes. */
    private static void requireDistinct(String source, List<RedisURI> servers) {
        Set<String> seen = new HashSet<>();
        for (RedisURI server : servers) {
            String place = server.getHost() + ":" + server.getPort();
            if (server.getHost() != null && !seen.add(place)) {
                throw new InvalidLockPropertiesException(
                        "%s has the server %s twice.".formatted(source, place),
                        "Name independent servers, each of them once.");
            }
        }
    }
}
