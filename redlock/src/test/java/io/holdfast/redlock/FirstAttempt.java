package io.holdfast.redlock;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The first attempt of a process that was just started: it has made no connection and loaded no class. */
final class FirstAttempt {

    /** The attempt failed while other processes had the processors. */
    static final int EXIT_STARVED = 3;

    /**
     * Loading classes and connecting takes more than one processor. With less than this share of one processor, other
     * processes had them.
     */
    private static final double STARVED = 0.8;

    private FirstAttempt() {}

    /**
     * Exits with 0 if the first attempt got the lock, which no other process wants.
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
        long cpuBegin = cpuNanos();
        try {
            LockLease lease = locks.lock("first of " + ProcessHandle.current().pid())
                    .tryAcquire()
                    .block();
            System.out.printf("%s after %d ms%n", lease, (System.nanoTime() - begin) / 1_000_000);
            System.exit(lease == null ? 2 : 0);
        } catch (RuntimeException failed) {
            System.out.printf("after %d ms: %s%n", (System.nanoTime() - begin) / 1_000_000, failed);
            boolean isStarved = cpuNanos() - cpuBegin < STARVED * (System.nanoTime() - begin);
            System.exit(isStarved ? EXIT_STARVED : 1);
        }
    }

    private static long cpuNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .map(Duration::toNanos)
                .orElse(0L);
    }
}
