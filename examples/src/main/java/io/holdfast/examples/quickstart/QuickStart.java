package io.holdfast.examples.quickstart;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** The ten lines of the README: acquire, work, release. */
final class QuickStart {

    private QuickStart() {}

    static Mono<Integer> sellOne(RedisURI redis, Stock stock) {
        // README: begin
        LockClient locks = LockClient.create(RedisLockBackend.create(redis)); // one per application
        LockOptions options = LockOptions.builder()
                .leaseDuration(Duration.ofSeconds(10)) // how long a crash can keep the lock
                .waitTimeout(Duration.ofSeconds(3)) // then LockTimeoutException
                .build();

        Mono<Integer> sale = locks.lock("stock/42") // a name and options: nothing is sent yet
                .with(options)
                .withLock(lease -> stock.sell(42, lease.fencingToken())); // acquires, works, releases
        // README: end
        return sale.delayUntil(left -> locks.close());
    }
}
