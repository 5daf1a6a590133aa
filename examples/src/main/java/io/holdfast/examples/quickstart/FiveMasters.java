package io.holdfast.examples.quickstart;

import io.holdfast.LockClient;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;

/** The lines of the README about Redlock. */
final class FiveMasters {

    private FiveMasters() {}

    static LockClient over(List<RedisURI> addresses) {
        // README: begin
        Duration longestLease = Duration.ofSeconds(30); // of all clients: here the default of leaseDuration
        List<RedisLockBackend> masters = addresses.stream() // five servers that know nothing of each other
                .map(it -> RedisLockBackend.builder(it).quarantine(longestLease).build())
                .toList();
        LockClient locks = LockClient.create(RedlockBackend.over(masters));
        // README: end
        return locks;
    }
}
