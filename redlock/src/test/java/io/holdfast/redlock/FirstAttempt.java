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

    /** The attempt took longer than the operation timeout, since other processes had the processors. */
    static final int EXIT_STARVED = 3;

    private static final Duration LEASE = Duration.ofSeconds(8);

    /** Texts of a starved attempt. A message has the first one, or the second one if each master took nearly as long. */
    private static final List<String> STARVED = List.of("was not answered within 2000 ms", "no answer within 1840 ms");

    /**
     * A connected master may take a hundredth of the lease. A master without a connection must get more time.
     */
    private static final String LIMIT_OF_A_CONNECTED_MASTER = "no answer within 80 ms";

    private FirstAttempt() {}

    /**
     * Exits with 0 if the first attempt got the lock, which no other process wants.
     *
     * @param args addresses of the masters
     */
    public static void main(String[] args) {
        List<RedisLockBackend> masters = Stream.of(args)
                .map(it -> RedisLockBackend.builder(RedisURI.create(it))
                        .quarantine(Duration.ZERO)
                        .build())
                .toList();
        LockOptions options = LockOptions.builder().leaseDuration(LEASE).build();
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
            String message = String.valueOf(failed.getMessage());
            boolean isStarved =
                    STARVED.stream().anyMatch(message::contains) && !message.contains(LIMIT_OF_A_CONNECTED_MASTER);
            System.exit(isStarved ? EXIT_STARVED : 1);
        }
    }
}
