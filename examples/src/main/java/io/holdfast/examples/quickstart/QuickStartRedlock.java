package io.holdfast.examples.quickstart;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;

public final class QuickStartRedlock {

    public static void main(String[] args) {
        List<String> servers = args.length > 0
                ? List.of(args)
                : List.of("redis://localhost:7001", "redis://localhost:7002", "redis://localhost:7003");
        Duration longestLease = Duration.ofSeconds(5); // of all clients of these servers
        List<RedisLockBackend> masters = RedisLockBackend.buildTogether(servers.stream()
                .map(it -> RedisLockBackend.builder(RedisAddress.parse(it))
                        .quarantine(longestLease)) // a server that has just started does not vote
                .toList());
        LockClient locks = LockClient.builder(RedlockBackend.over(masters))
                .options(LockOptions.builder().leaseDuration(longestLease).build())
                .build();

        String sold = locks.lock("stock/42")
                .withLock(lease -> Mono.just("sold with token " + lease.fencingToken()))
                .block();
        System.out.println(sold);
        locks.close().block();
    }
}
