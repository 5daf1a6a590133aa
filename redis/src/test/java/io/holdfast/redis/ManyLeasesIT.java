package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static io.holdfast.redis.ClientOverRedis.pause;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockBackend;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class ManyLeasesIT {

    private static final int LEASES = 10_000;
    /** Enough leases: everything else in the heap is less than a hundredth of each. */
    private static final int SOME = 2_000;

    /** Less than a hundredth of the measured size. */
    private static final long WORTH_WAITING = 10_000;

    private static final Duration LEASE = Duration.ofSeconds(6);

    @RegisterExtension
    final ClientOverRedis redis = new ClientOverRedis(options -> options.leaseDuration(LEASE));

    @Test
    void tenThousandLeasesAreRenewedInBatchesAndWithoutAThreadEach() {
        await(redis.client.lock("warm-up").withLock(Mono.just(1)));
        int threads = ManagementFactory.getThreadMXBean().getThreadCount();
        List<LockLease> leases = Objects.requireNonNull(await(Flux.range(0, LEASES)
                .flatMap(n -> redis.client.lock("cart/" + n).acquire(), 256)
                .collectList()));
        redis.store.redis().configResetstat();
        long start = System.nanoTime();

        eventually(() -> redis.store.calls("set") + redis.store.calls("setrange") >= 2 * LEASES);

        double periods = (System.nanoTime() - start) / (LEASE.toNanos() / 3.0);
        assertThat(leases).hasSize(LEASES).allMatch(LockLease::isValid);
        assertThat(redis.store.calls("evalsha"))
                .as("one command per lease would be %s", (long) (LEASES * periods))
                .isLessThan((long) (LEASES * periods / 20));
        assertThat(ManagementFactory.getThreadMXBean().getThreadCount() - threads)
                .isLessThan(10);
        assertThat(redis.events).noneMatch(LockEvent.Lost.class::isInstance);
        assertThat(await(Flux.fromIterable(leases)
                        .flatMap(lease -> lease.release().thenReturn(1), 256)
                        .count()))
                .isEqualTo(LEASES);
    }

    /** No client sends an attempt or a renewal while the heap is measured, however busy the machine is. */
    @Test
    void aHeldLeaseAndAWaiterCostLittleHeap() {
        LockClient holder = patient(redis.store.backend());
        AttemptsUnderWay attempts = new AttemptsUnderWay(
                RedisLockBackend.builder(redis.store.uri())
                        .claimTime(Duration.ofMinutes(1))
                        .build(),
                signal -> {});
        LockClient waiter = patient(attempts);
        await(holder.lock("warm-up").withLock(Mono.just(1)));
        await(waiter.ping());
        long empty = usedHeap();
        List<LockLease> leases = Objects.requireNonNull(await(Flux.range(0, SOME)
                .flatMap(n -> holder.lock("cart/" + n).acquire(), 256)
                .collectList()));
        long perLease = (usedHeap() - empty) / SOME;

        long held = usedHeap();
        List<Disposable> waiting = new ArrayList<>();
        for (int n = 0; n < SOME; n++) {
            waiting.add(waiter.lock("cart/" + n).acquire().subscribe());
        }
        eventually(() -> attempts.areOver(SOME));
        long perWaiter = (usedHeap() - held) / SOME;

        System.out.printf("[holdfast] heap per held lease %,d bytes, per waiter %,d bytes%n", perLease, perWaiter);
        assertThat(perLease).as("bytes per held lease").isBetween(100L, 1_500L);
        assertThat(perWaiter).as("bytes per waiter").isBetween(100L, 2_500L);
        assertThat(leases).allMatch(LockLease::isValid);
        waiting.forEach(Disposable::dispose);
        await(waiter.close());
        await(holder.close());
    }

    private static LockClient patient(LockBackend backend) {
        return LockClient.builder(backend)
                .options(LockOptions.builder()
                        .leaseDuration(Duration.ofMinutes(4))
                        .build())
                .operationTimeout(Duration.ofMinutes(1))
                .build();
    }

    /**
     * Returns the least of many measurements, until none was less for a second: objects that are freed a little later
     * do not count.
     */
    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        int inVain = 0;
        while (inVain < 20) {
            System.gc();
            long used = runtime.totalMemory() - runtime.freeMemory();
            inVain = used < least - WORTH_WAITING ? 0 : inVain + 1;
            least = Math.min(least, used);
            pause(Duration.ofMillis(50));
        }
        return least;
    }
}
