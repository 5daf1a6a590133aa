package io.holdfast.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockReport;
import io.holdfast.examples.orders.Customer.Answer;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redis.RedisLockInspector;
import io.holdfast.testkit.server.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** An instance, a JVM of its own, gets SIGTERM while one request holds a lock and many wait for it. */
class StoppedInstanceIT {

    private static final int WAITERS = 100;

    /** The holder needs {@link ShopProcess#SLOW_PAYMENT} of it. */
    private static final Duration LIMIT = Duration.ofSeconds(15);

    /**
     * Without its store the application also waits for time-outs of 2 s each: of the holder's next write, of the release, of the client's close. With the
     * quiet period of Reactor Netty that is 14 s. The rest is for a slow machine.
     */
    private static final Duration LIMIT_WITHOUT_STORE = Duration.ofSeconds(20);

    private static final String LOCK = "stock/" + ShopProcess.SLOW_ITEM;

    /** The defaults of Spring Boot and of Holdfast, which the application changes, and a long wait. */
    private static final String[] DEFAULTS = {
        "spring.lifecycle.timeout-per-shutdown-phase=30s", "holdfast.lease-duration=30s", "holdfast.wait-timeout=100s"
    };

    /** The status of each request in the order of the answers; 0 if there was none. */
    private final ConcurrentLinkedQueue<Integer> answers = new ConcurrentLinkedQueue<>();

    private CompletableFuture<Void> crowd(Customer customer, ShopProcess shop, RedisLockInspector inspector) {
        customer.stock(ShopProcess.SLOW_ITEM, WAITERS + 1);
        CompletableFuture<Void> holder = answered(customer, ShopProcess.SLOW);
        until(Mono.fromSupplier(() -> shop.said().contains(ShopProcess.PAYING)));
        CompletableFuture<?>[] waiters = Flux.range(0, WAITERS)
                .map(buyer -> answered(customer, "w" + buyer))
                .collectList()
                .block(LIMIT)
                .toArray(CompletableFuture<?>[]::new);
        until(report(inspector).map(it -> it.waiterCount() == WAITERS + 1)); // and the job
        return CompletableFuture.allOf(holder, CompletableFuture.allOf(waiters));
    }

    private CompletableFuture<Void> answered(Customer customer, String order) {
        return customer.order(ShopProcess.SLOW_ITEM, order)
                .map(Answer::status)
                .onErrorReturn(0)
                .doOnNext(answers::add)
                .then()
                .toFuture();
    }

    private static Mono<LockReport> report(RedisLockInspector inspector) {
        return inspector
                .inspect(LOCK)
                .filter(it -> it.type() == LockReport.Type.MUTEX)
                .next();
    }

    private static void until(Mono<Boolean> condition) {
        assertThat(condition
                        .filter(isTrue -> isTrue)
                        .repeatWhenEmpty(again -> again.delayElements(Duration.ofMillis(20)))
                        .block(Duration.ofSeconds(30)))
                .isTrue();
    }

    private static RedisLockInspector inspector(RedisServer redis) {
        return RedisLockBackend.builder(RedisAddress.parse(redis.uri())).inspector();
    }

    /** Returns the time from SIGTERM to the end of the process. */
    private static Duration exit(ShopProcess shop) throws Exception {
        long begun = System.nanoTime();
        shop.stop();
        shop.process().onExit().get(60, TimeUnit.SECONDS);
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        System.out.println("It ended in " + took);
        return took;
    }

    @Test
    void waitersAreAnsweredTheHolderFinishesAndNoJobBegins() throws Exception {
        try (RedisServer redis = RedisServer.start();
                ShopProcess shop = ShopProcess.start(redis.uri(), DEFAULTS);
                Customer customer = Customer.of(shop.port())) {
            RedisLockInspector inspector = inspector(redis);
            CompletableFuture<Void> all = crowd(customer, shop, inspector);

            Duration took = exit(shop);

            all.get(10, TimeUnit.SECONDS);
            List<Integer> expected = new ArrayList<>(Collections.nCopies(WAITERS, 503));
            expected.add(201); // the holder, last
            assertThat(answers).containsExactlyElementsOf(expected);
            assertThat(took).isLessThan(LIMIT);
            LockReport afterwards = report(inspector).block(LIMIT);
            assertThat(afterwards.isHeld()).isFalse();
            assertThat(afterwards.waiterCount()).isZero();
            List<String> said = List.copyOf(shop.said());
            assertThat(said.subList(said.indexOf(ShopProcess.PAYING), said.size()))
                    .doesNotContain(Job.BEGINS);
            inspector.close().block(LIMIT);
        }
    }

    @Test
    void theInstanceEndsInBoundedTimeWhileTheStoreHangs() throws Exception {
        try (RedisServer redis = RedisServer.start();
                ShopProcess shop = ShopProcess.start(redis.uri(), DEFAULTS);
                Customer customer = Customer.of(shop.port())) {
            RedisLockInspector inspector = inspector(redis);
            CompletableFuture<Void> all = crowd(customer, shop, inspector);
            redis.pause();
            try {
                Duration took = exit(shop);

                all.get(10, TimeUnit.SECONDS);
                assertThat(answers).hasSize(WAITERS + 1).containsOnly(503);
                assertThat(took).isLessThan(LIMIT_WITHOUT_STORE);
            } finally {
                redis.resume();
            }
            inspector.close().block(LIMIT);
        }
    }

    @Test
    void theInstanceEndsInBoundedTimeAfterTheStoreHasGone() throws Exception {
        try (RedisServer redis = RedisServer.start();
                ShopProcess shop = ShopProcess.start(redis.uri(), DEFAULTS);
                Customer customer = Customer.of(shop.port())) {
            RedisLockInspector inspector = inspector(redis);
            CompletableFuture<Void> all = crowd(customer, shop, inspector);
            redis.stop();

            Duration took = exit(shop);

            all.get(10, TimeUnit.SECONDS);
            assertThat(answers).hasSize(WAITERS + 1).containsOnly(503);
            assertThat(took).isLessThan(LIMIT_WITHOUT_STORE);
            inspector.close().block(LIMIT);
        }
    }
}
