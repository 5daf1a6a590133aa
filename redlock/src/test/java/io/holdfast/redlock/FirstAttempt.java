package io.holdfast.redlock;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** What a process does that has just been started: its first attempt, with no connection made and no class loaded. */
final class FirstAttempt {

    private FirstAttempt() {}

    /**
     * Exits with 0 when the first attempt got the lock, which no other process wants.
     *
     * @param args addresses of the masters
     */
    public static void main(String[] args) {
        List<RedisLockBackend> masters = Stream.of(args)
                .map(RedisURI::create)
                .map(RedisLockBackend::create)
                .toList();
        LockOptions options =
                LockOptions.builder().leaseDuration(Duration.ofSeconds(8)).build();
        LockClient locks = LockClient.builder(RedlockBackend.builder(masters)
                        .listener(vote -> System.out.println(vote))
                        .build())
                .options(options)
                .build();
        long begin = System.nanoTime();
        try {
            LockLease lease = locks.lock("first of " + ProcessHandle.current().pid())
                    .tryAcquire()
                    .block();
            System.out.printf("%s after %d ms%n", lease, (System.nanoTime() - begin) / 1_000_000);
            System.exit(lease == null ? 2 : 0);
        } catch (RuntimeException failed) {
            System.out.printf("after %d ms: %s%n", (System.nanoTime() - begin) / 1_000_000, failed);
            System.exit(1);
        }
    }
}
