package io.holdfast.spring;

import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** From properties to back ends in Redis. */
final class RedisBackends {

    private RedisBackends() {}

    static LockBackend redis(HoldfastProperties.Redis properties) {
        boolean isCluster = !properties.clusterUris().isEmpty();
        if (isCluster == (properties.uri() != null)) {
            throw new InvalidLockPropertiesException(
                    isCluster
                            ? "holdfast.redis.uri and holdfast.redis.cluster-uris are both set."
                            : "holdfast.backend is redis, but neither holdfast.redis.uri nor holdfast.redis.cluster-uris is set.",
                    "Set the first for a standalone server or sentinels, such as redis://localhost:6379, the second for a cluster.");
        }
        RedisLockBackend.Builder builder = properties.uri() != null
                ? RedisLockBackend.builder(address("holdfast.redis.uri", properties.uri()))
                : RedisLockBackend.clusterBuilder(addresses("holdfast.redis.cluster-uris", properties.clusterUris()));
        return builder.keyPrefix(properties.keyPrefix()).build();
    }

    static LockBackend redlock(HoldfastProperties.Redlock properties, Duration leaseDuration) {
        List<RedisURI> servers = addresses("holdfast.redlock.uris", properties.uris());
        Duration quarantine = quarantine(properties.quarantine(), leaseDuration);
        requireOddNumber(servers.size());
        requireDistinct(servers);
        // All is checked before there is one that somebody would have to close.
        List<RedisLockBackend.Builder> masters = servers.stream()
                .map(server -> RedisLockBackend.builder(server)
                        .keyPrefix(properties.keyPrefix())
                        .quarantine(quarantine))
                .toList();
        return RedlockBackend.over(RedisLockBackend.buildTogether(masters));
    }

    /** By default the longest lease that this client hands out, as far as properties say. */
    static Duration quarantine(@Nullable Duration set, Duration leaseDuration) {
        if (set == null) {
            return leaseDuration;
        }
        if (!set.isZero() && set.compareTo(leaseDuration) < 0) {
            throw new InvalidLockPropertiesException(
                    "holdfast.redlock.quarantine is %s, shorter than holdfast.lease-duration, which is %s: a server that comes back without its locks would vote while they are held."
                            .formatted(set, leaseDuration),
                    "Set it to the longest lease of all clients of these servers, here and there, or to 0s if each server writes every grant to its disk before it answers.");
        }
        return set;
    }

    private static void requireOddNumber(int servers) {
        if (servers < 3 || servers % 2 == 0) {
            throw new InvalidLockPropertiesException(
                    "holdfast.redlock.uris has %d servers.".formatted(servers),
                    "Name an odd number of them, three at least: when one is away, the others must be a majority.");
        }
    }

    /** One server that is there twice would have two votes. */
    private static void requireDistinct(List<RedisURI> servers) {
        Set<String> seen = new HashSet<>();
        for (RedisURI server : servers) {
            String place = server.getHost() + ":" + server.getPort();
            if (server.getHost() != null && !seen.add(place)) {
                throw new InvalidLockPropertiesException(
                        "holdfast.redlock.uris has the server %s twice.".formatted(place),
                        "Name servers that know nothing of each other, each of them once.");
            }
        }
    }

    private static List<RedisURI> addresses(String property, List<String> texts) {
        return texts.stream().map(text -> address(property, text)).toList();
    }

    /** What is wrong with an address is said without repeating it: it may hold a password. */
    private static RedisURI address(String property, String text) {
        try {
            return RedisAddress.parse(text);
        } catch (IllegalArgumentException unreadable) {
            throw new InvalidLockPropertiesException(
                    property + " has a value that is no address of Redis.",
                    "What is wrong: %s.".formatted(unreadable.getMessage()));
        }
    }
}
