package io.holdfast.redlock;

import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;

/** The records of mutexes at one master, read as the scripts write them. */
final class Records {

    private Records() {}

    /**
     * Returns the keys of locks that are held, or that a waiter wants: without records of free mutexes, records of other kinds, which have
     * the last token alone, and tombstones.
     */
    static List<String> leftovers(RedisCommands<String, String> redis) {
        return redis.keys("*").stream()
                .filter(key -> !key.endsWith(":rw") && !key.endsWith(":semaphore") && !key.contains(":gone"))
                .filter(key -> !key.endsWith(":mutex") || leaseLeft(redis, key) > 0)
                .toList();
    }

    /** Returns how long the master still keeps a mutex, in milliseconds; 0 if it is free. */
    static long leaseLeft(RedisCommands<String, String> redis, String key) {
        String record = String.valueOf(redis.get(key));
        List<String> now = redis.time();
        long nowMicros = Long.parseLong(now.get(0)) * 1_000_000 + Long.parseLong(now.get(1));
        return record.startsWith("1H") ? Math.max(0, Long.parseLong(record.substring(3, 19)) - nowMicros) / 1_000 : 0;
    }
}
