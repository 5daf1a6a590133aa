package io.holdfast.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Blocking work, as users of JDBC write it, beside other locks of the same client on a real Redis. */
class BlockingWorkIT {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration LEASE = Duration.ofMillis(2_400);

    private static RedisServer server;

    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final CountDownLatch answer = new CountDownLatch(1);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
            .withPropertyValues(
                    "holdfast.backend=redis",
                    "holdfast.redis.uri=" + server.uri(),
                    "holdfast.lease-duration=" + LEASE.toMillis() + "ms");

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @AfterEach
    void end() {
        answer.countDown();
        callers.shutdownNow();
    }

    /** Calls a database under a lock and waits for the result, like a thread of an MVC application. */
    private List<Future<Integer>> callDatabaseUnderLocks(LockClient locks, int calls) throws Exception {
        // The first connection may take longer than three operation timeouts on a busy machine.
        locks.ping().then(locks.lock("first").withLock(Mono.empty())).block(LIMIT);
        CountDownLatch begun = new CountDownLatch(calls);
        List<Future<Integer>> results = new ArrayList<>();
        for (int call = 0; call < calls; call++) {
            String name = "row/" + call;
            results.add(callers.submit(() -> locks.lock(name)
                    .withLock(lease -> Mono.fromCallable(() -> {
                        begun.countDown();
                        return answer.await(LIMIT.toSeconds(), TimeUnit.SECONDS) ? 1 : 0;
                    }))
                    .block(LIMIT)));
        }
        if (!begun.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            answer.countDown();
            for (Future<Integer> result : results) {
                assertThat(result.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isOne(); // shows why a call has not begun
            }
        }
        assertThat(begun.getCount()).as("calls that have not begun").isZero();
        return results;
    }

    private static List<LockLease> take(LockClient locks, String family, int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> requireNonNull(
                        locks.lock(family + "/" + number).acquire().block(LIMIT)))
                .toList();
    }

    private static Flux<LossReason> losses(List<LockLease> leases) {
        return Flux.merge(leases.stream().map(LockLease::onLoss).toList());
    }

    /** The promise for three leases of other code, and for a rival that waits for one of them. */
    private static void assertOthersGoOn(LockClient locks, LockClient rival) {
        List<LockLease> others = take(locks, "other", 3);

        assertThat(losses(others)
                        .next()
                        .timeout(LEASE.multipliedBy(2), Mono.empty())
                        .blockOptional(LIMIT))
                .as("a loss within two leases")
                .isEmpty();
        assertThat(others).allMatch(LockLease::isValid);

        Mono<LockLease> here = Mono.fromFuture(locks.lock("other/0").acquire().toFuture());
        Mono<LockLease> there = Mono.fromFuture(rival.lock("other/1").acquire().toFuture());
        Flux.fromIterable(others).flatMap(LockLease::release).blockLast(LIMIT);
        assertThat(requireNonNull(here.block(LIMIT)).isValid()).isTrue();
        assertThat(requireNonNull(there.block(LIMIT)).isValid()).isTrue();
        assertThat(locks.lock("free").withLock(Mono.just("done")).block(LIMIT)).isEqualTo("done");
    }

    @Test
    void blockingWorkDelaysNoOtherLock() {
        runner.run(context -> runner.run(rival -> {
            LockClient locks = context.getBean(LockClient.class);
            List<Future<Integer>> calls = callDatabaseUnderLocks(locks, 4);

            assertOthersGoOn(locks, rival.getBean(LockClient.class));

            answer.countDown();
            for (Future<Integer> call : calls) {
                assertThat(call.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isOne();
            }
        }));
    }

    /** So many calls use more threads than a pool of 10 for each processor has, which is Reactor's default. */
    @Test
    void hundredsOfBlockedCallsDelayNoOtherLock() {
        runner.run(context -> runner.run(rival -> {
            LockClient locks = context.getBean(LockClient.class);
            List<Future<Integer>> calls = callDatabaseUnderLocks(locks, 200);

            assertOthersGoOn(locks, rival.getBean(LockClient.class));

            answer.countDown();
            for (Future<Integer> call : calls) {
                assertThat(call.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isOne();
            }
        }));
    }

    /** Each call holds one lock, and needs a thread for the work under a second one. */
    @Test
    void nestedCallsEndAlthoughEachThreadIsTaken() {
        runner.withPropertyValues("holdfast.deliver-threads=2").run(context -> {
            LockClient locks = context.getBean(LockClient.class);
            CountDownLatch bothHold = new CountDownLatch(2);
            Mono<Integer> outer = Flux.range(0, 2)
                    .flatMap(call -> locks.lock("outer/" + call)
                            .withLock(lease -> Mono.fromCallable(() -> {
                                bothHold.countDown();
                                assertThat(bothHold.await(LIMIT.toSeconds(), TimeUnit.SECONDS))
                                        .isTrue();
                                return locks.lock("inner/" + call)
                                        .withLock(Mono.fromCallable(() -> 1))
                                        .block(LIMIT);
                            })))
                    .count()
                    .map(Long::intValue);

            assertThat(outer.block(LIMIT)).isEqualTo(2);
        });
    }

    @Test
    void leasesAreRenewedAndALossIsSignalledWhileEachThreadIsTaken() {
        runner.withPropertyValues("holdfast.deliver-threads=2").run(context -> {
            LockClient locks = context.getBean(LockClient.class);
            List<LockLease> others = take(locks, "other", 2);
            Mono<LossReason> lost = Mono.fromFuture(others.get(0).onLoss().toFuture());
            List<Future<Integer>> unused = callDatabaseUnderLocks(locks, 2);

            try (RedisClient operator = RedisClient.create(server.uri())) {
                operator.connect().sync().del("holdfast:{other/0}:mutex");
            }

            assertThat(lost.block(LIMIT)).isEqualTo(LossReason.NOT_HELD);
            assertThat(losses(others.subList(1, 2))
                            .next()
                            .timeout(LEASE.multipliedBy(2), Mono.empty())
                            .blockOptional(LIMIT))
                    .as("a loss of the other lease within two leases")
                    .isEmpty();
            assertThat(others.get(1).isValid()).isTrue();
        });
    }
}
