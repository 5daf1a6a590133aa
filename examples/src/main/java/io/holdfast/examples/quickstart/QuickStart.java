package io.holdfast.examples.quickstart;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import java.time.Duration;
import reactor.core.publisher.Mono;

public final class QuickStart {

    public static void main(String[] args) {
        String server = args.length > 0 ? args[0] : "redis://localhost:6379";
        LockClient locks = LockClient.create(RedisLockBackend.create(RedisAddress.parse(server)));
        LockOptions options =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(10)).build();

        Mono<String> sale = locks.lock("stock/42") // sends nothing yet
                .with(options)
                .withLock(lease -> Mono.just("sold with token " + lease.fencingToken())); // your work

        System.out.println(sale.block()); // acquires, works, releases; a service returns the Mono instead
        locks.close().block();
    }
}
