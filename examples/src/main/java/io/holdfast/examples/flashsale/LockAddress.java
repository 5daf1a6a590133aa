package io.holdfast.examples.flashsale;

import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.util.List;
import java.util.Locale;

/**
 * Where a shop finds the lock.
 *
 * @param kind who guards it
 * @param servers their addresses
 */
record LockAddress(Kind kind, List<String> servers) {

    /** Who guards the lock. */
    enum Kind {
        REDIS,
        REDLOCK
    }

    String toText() {
        return kind.name().toLowerCase(Locale.ROOT) + " " + String.join(" ", servers);
    }

    static LockAddress parse(String text) {
        List<String> words = List.of(text.split(" "));
        return new LockAddress(Kind.valueOf(words.get(0).toUpperCase(Locale.ROOT)), words.subList(1, words.size()));
    }

    /** The only place of the demo where the back ends differ for a shop. */
    LockBackend backend(ClientResources resources) {
        List<RedisLockBackend> redis = servers.stream()
                .map(server -> RedisLockBackend.create(resources, RedisURI.create(server)))
                .toList();
        return switch (kind) {
            case REDIS -> redis.get(0);
            case REDLOCK -> RedlockBackend.over(redis);
        };
    }
}
