package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.testkit.ExclusionProbe;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Races of two clients for one lock, while masters are killed, started again and frozen. Three masters lose their data
 * and have the restart rule; two keep it and have no rule. Within the assumptions, two valid leases never overlap, and
 * tokens rise.
 *
 * <p>{@code -Dholdfast.races=10000} makes more races; {@code -Dholdfast.seed=…} another order of accidents.
 */
class RacesIT {

    private static final int RACES = Integer.getInteger("holdfast.races", 2_000);
    private static final long SEED = Long.getLong("holdfast.seed", 1);

    /** How many races for other locks go on at the same time. */
    private static final int NAMES = 24;

    private static final int THAT_KEEP_THEIR_DATA = 2;
    private static final Duration LEASE = Duration.ofSeconds(2);

    /** How many races have a holder that renews its lease over an accident. */
    private static final int ONE_IN = 400;

    @RegisterExtension
    final FiveServers five = new FiveServers(THAT_KEEP_THEIR_DATA);

    private final Random accidents = new Random(SEED);
    private final AtomicInteger races = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final AtomicIntegerArray kinds = new AtomicIntegerArray(3);

    private record Pair(FiveServers.Client one, FiveServers.Client two) {}

    private FiveServers.Client newClient() {
        LockOptions options = LockOptions.builder()
                .leaseDuration(LEASE)
                .waitTimeout(Duration.ofSeconds(20))
                .build();
        return five.client(options, this::member);
    }

    private RedisLockBackend.Builder member(int number) {
        RedisLockBackend.Builder member = five.direct().apply(number);
        return keepsItsData(number) ? member : member.quarantine(LEASE);
    }

    private static boolean keepsItsData(int number) {
        return number > 5 - THAT_KEEP_THEIR_DATA;
    }

    /** Both clients want the lock at once, and both get it in the end. */
    private Mono<Void> race(Pair clients, String name, ExclusionProbe probe, Random random) {
        return Mono.defer(() -> {
            boolean isLong = random.nextInt(ONE_IN) == 0;
            Duration hold = isLong ? Duration.ofMillis(random.nextInt(4_000)) : Duration.ZERO;
            races.incrementAndGet();
            return Mono.when(visit(clients.one(), name, probe, hold), visit(clients.two(), name, probe, Duration.ZERO));
        });
    }

    private Mono<Void> visit(FiveServers.Client client, String name, ExclusionProbe probe, Duration hold) {
        return client.locks
                .lock(name)
                .withLock(lease -> probe.guard(
                        lease.fencingToken(),
                        hold.isZero() ? Mono.empty() : Mono.delay(hold).then()))
                .onErrorResume(LockException.class, error -> {
                    lost.incrementAndGet(); // a lease that could not be renewed in time, for example: no other client
                    // had it before
                    return Mono.empty();
                });
    }

    @Test
    void neverTwoValidLeasesAndRisingTokensWhileMastersAreKilledAndComeBack() {
        Pair clients = new Pair(newClient(), newClient());
        FiveServers.pause(LEASE.plusSeconds(1)); // the masters were just started
        long begin = System.nanoTime();
        CompletableFuture<Void> all = Flux.range(0, NAMES)
                .flatMap(i -> races(clients, i), NAMES)
                .then()
                .toFuture();
        while (!all.isDone()) {
            accident(1 + accidents.nextInt(5));
        }
        all.join();
        System.out.printf(
                "%d races of two clients in %d ms, seed %d: %d kills with the data lost, %d with the data kept, %d freezes; "
                        + "%d visits failed%n",
                races.get(),
                (System.nanoTime() - begin) / 1_000_000,
                SEED,
                kinds.get(0),
                kinds.get(1),
                kinds.get(2),
                lost.get());
        assertThat(kinds.get(0)).as("data was lost").isPositive();
        assertThat(kinds.get(1)).as("data was kept").isPositive();
        assertThat(kinds.get(2)).as("masters were frozen").isPositive();
        assertThat(lost.get()).as("visits that failed").isLessThan(RACES / 10);
    }

    private Mono<Void> races(Pair clients, int number) {
        ExclusionProbe probe = ExclusionProbe.exclusive();
        Random random = new Random(SEED + number);
        return race(clients, "race/" + number, probe, random)
                .repeat(() -> races.get() < RACES)
                .then(Mono.fromRunnable(probe::verify));
    }

    /**
     * Makes one accident after the other. The master of the one before votes again or abstains, so a majority can
     * always vote.
     */
    private void accident(int number) {
        if (accidents.nextInt(3) == 0) {
            kinds.incrementAndGet(2);
            five.server(number).pause();
            FiveServers.pause(Duration.ofMillis(accidents.nextInt(600)));
            five.server(number).resume();
        } else {
            kinds.incrementAndGet(keepsItsData(number) ? 1 : 0);
            five.server(number).stop();
            FiveServers.pause(Duration.ofMillis(accidents.nextInt(300)));
            five.server(number).restart();
        }
        FiveServers.pause(Duration.ofMillis(300 + accidents.nextInt(900)));
    }
}
