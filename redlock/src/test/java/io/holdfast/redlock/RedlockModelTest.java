package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * The whole library, engine included, in virtual time. Clients acquire, wait, leave, hold and release. Masters are
 * slow, lose requests and replies, and are unreachable for a time, with clocks that show anything. The seed decides the
 * world and the clients. The engine draws its own pauses and ids, so a history may differ from run to run.
 */
class RedlockModelTest {

    /** More with {@code -Dholdfast.histories=1000}, from another seed on with {@code -Dholdfast.seed=…}. */
    private static final int HISTORIES = Integer.getInteger("holdfast.histories", 10);

    private static final int FIRST_SEED = Integer.getInteger("holdfast.seed", 1);
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration HISTORY = Duration.ofSeconds(20);
    private static final String NAME = "model";

    @Test
    void neverTwoHoldersAndRisingTokensWithAnyClocks() {
        int grants = 0;
        for (int seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
            grants += new History(seed, Duration.ofDays(365), false).run();
        }
        System.out.printf("%d histories from seed %d on, any clocks: %d grants%n", HISTORIES, FIRST_SEED, grants);
        assertThat(grants).isGreaterThan(HISTORIES);
    }

    @Test
    void neverTwoHoldersAndRisingTokensWhenMastersLoseTheirDataAndAbstain() {
        int grants = 0;
        for (int seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
            grants += new History(seed, Duration.ofMillis(5), true).run();
        }
        System.out.printf("%d histories from seed %d on, data lost: %d grants%n", HISTORIES, FIRST_SEED, grants);
        assertThat(grants).isGreaterThan(HISTORIES);
    }

    private static final class History {

        private final int seed;
        private final Random random;
        private final boolean mastersLoseData;
        private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
        private final List<Master> masters;
        private final List<Client> clients = new ArrayList<>();
        private final List<LockLease> granted = new ArrayList<>();
        private final int[] troubleUntilMillis = new int[5];
        private final Wire.Fate[] trouble = new Wire.Fate[5];
        private final List<String> violations = new ArrayList<>();
        private long lastToken;

        History(int seed, Duration clocksDiffer, boolean mastersLoseData) {
            this.seed = seed;
            this.mastersLoseData = mastersLoseData;
            random = new Random(seed);
            masters = Stream.generate(() -> new Master(time)).limit(5).toList();
            masters.forEach(it -> it.clock.wrongBy = any(clocksDiffer));
            for (int i = 0; i < 3; i++) {
                clients.add(new Client(any(clocksDiffer)));
            }
        }

        private Duration any(Duration upTo) {
            return Duration.ofMillis((long) (upTo.toMillis() * (random.nextDouble() - 0.5)));
        }

        int run() {
            clients.forEach(Client::next);
            long end = HISTORY.toMillis();
            for (long now = 0; now < end; now = time.now(TimeUnit.MILLISECONDS)) {
                if (random.nextInt(60) == 0) {
                    makeTrouble(now);
                }
                time.advanceTimeBy(Duration.ofMillis(1 + random.nextInt(20)));
                check();
            }
            clients.forEach(it -> it.locks.close().subscribe());
            time.advanceTimeBy(Duration.ofSeconds(30));
            for (Client client : clients) {
                assertThat(client.backend.claimCount())
                        .as("seed %d: candidates", seed)
                        .isZero();
                assertThat(client.backend.releaseCount())
                        .as("seed %d: releases under way", seed)
                        .isZero();
            }
            masters.forEach(it ->
                    assertThat(it.contents()).as("seed %d: left behind", seed).isEmpty());
            return granted.size();
        }

        /** Makes two masters fail at most, so that clients get the lock; sometimes three, and no client does. */
        private void makeTrouble(long now) {
            int master = random.nextInt(5);
            trouble[master] = random.nextBoolean() ? Wire.Fate.IS_LOST : Wire.Fate.IS_REFUSED;
            troubleUntilMillis[master] = (int) now + random.nextInt(3_000);
            if (mastersLoseData && random.nextInt(3) == 0) {
                masters.get(master).loseData(LEASE.plusMillis(100));
            }
        }

        private boolean isInTrouble(int master) {
            return time.now(TimeUnit.MILLISECONDS) < troubleUntilMillis[master];
        }

        private void check() {
            assertThat(violations).as("seed %d", seed).isEmpty();
            long believers = granted.stream().filter(LockLease::isValid).count();
            assertThat(believers)
                    .as("seed %d at %d ms: holders", seed, time.now(TimeUnit.MILLISECONDS))
                    .isLessThanOrEqualTo(1);
        }

        private final class Client {

            final RedlockBackend backend;
            final LockClient locks;

            Client(Duration clockIsWrongBy) {
                MutableClock clock = new MutableClock(time);
                clock.wrongBy = clockIsWrongBy;
                Random chance = new Random(random.nextLong());
                backend = RedlockBackend.builder(
                                IntStream.range(0, 5).mapToObj(this::wire).toList())
                        .timer(time)
                        .wallClock(clock)
                        .random(chance::nextDouble)
                        .closeMasters(false)
                        .build();
                locks = LockClient.builder(backend)
                        .timer(time)
                        .options(LockOptions.builder()
                                .leaseDuration(LEASE)
                                .waitTimeout(Duration.ofSeconds(4))
                                .build())
                        .build();
            }

            private Wire wire(int i) {
                Wire wire = new Wire(() -> masters.get(i), time);
                wire.delayNanos = () -> {
                    int kind = random.nextInt(100);
                    long micros = kind < 90
                            ? random.nextInt(3_000)
                            : kind < 98 ? random.nextInt(60_000) : random.nextInt(1_500_000);
                    return micros * 1_000;
                };
                wire.fateOfRequest = () ->
                        isInTrouble(i) ? trouble[i] : random.nextInt(50) == 0 ? Wire.Fate.IS_LOST : Wire.Fate.ARRIVES;
                wire.fateOfReply = () -> random.nextInt(30) == 0 ? Wire.Fate.IS_LOST : Wire.Fate.ARRIVES;
                return wire;
            }

            void next() {
                var unused = time.schedule(this::act, random.nextInt(300), TimeUnit.MILLISECONDS);
            }

            private void act() {
                boolean waits = random.nextInt(4) != 0;
                var lock = locks.lock(NAME);
                Disposable under = (waits ? lock.acquire() : lock.tryAcquire())
                        .switchIfEmpty(Mono.fromRunnable(this::next))
                        .subscribe(this::hold, error -> next());
                if (random.nextInt(6) == 0) {
                    var unused = time.schedule(
                            () -> {
                                if (!under.isDisposed()) {
                                    under.dispose();
                                    next();
                                }
                            },
                            random.nextInt(50),
                            TimeUnit.MILLISECONDS);
                }
            }

            private void hold(LockLease lease) {
                // Collected, since an exception here would only end this subscription.
                if (lease.fencingToken() <= lastToken) {
                    violations.add("token %d after %d".formatted(lease.fencingToken(), lastToken));
                }
                if (granted.stream().anyMatch(LockLease::isValid)) {
                    violations.add("granted while another lease is valid");
                }
                lastToken = lease.fencingToken();
                granted.add(lease);
                var unused = time.schedule(
                        () -> lease.release().subscribe(nothing -> {}, lost -> next(), this::next),
                        random.nextInt(10) == 0 ? random.nextInt(8_000) : random.nextInt(200),
                        TimeUnit.MILLISECONDS);
            }
        }
    }
}
