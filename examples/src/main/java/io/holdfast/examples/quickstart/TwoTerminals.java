package io.holdfast.examples.quickstart;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import java.time.Duration;
import reactor.core.publisher.Mono;

public final class TwoTerminals {

    public static void main(String[] args) {
        String server = args.length > 0 ? args[0] : "redis://localhost:6379";
        LockClient locks = LockClient.create(RedisLockBackend.create(RedisAddress.parse(server)));
        LockOptions options = LockOptions.builder()
                .leaseDuration(Duration.ofSeconds(5)) // how long a crash can keep the lock
                .build();

        System.out.println("waiting for the lock");
        String end = locks.lock("stock/42")
                .with(options)
                .withLock(TwoTerminals::work)
                .block();
        System.out.println(end);
        locks.close().block();
    }

    private static Mono<String> work(LockLease lease) {
        System.out.println("working with token " + lease.fencingToken());
        return Mono.delay(Duration.ofSeconds(10)).map(tick -> "released");
    }
}
