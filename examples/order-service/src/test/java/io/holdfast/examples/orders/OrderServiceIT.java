package io.holdfast.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockReport;
import io.holdfast.examples.orders.Customer.Answer;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redis.RedisLockInspector;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The answers that a client gets when it waits, disconnects, or when a server is unreachable. */
class OrderServiceIT {

    private static RedisServer stock;

    /** The server of the locks, which a test may stop. */
    private static RedisServer guard;

    private static RedisLockInspector inspector;

    @BeforeAll
    static void start() {
        stock = RedisServer.start();
        guard = RedisServer.start();
        inspector = RedisLockBackend.builder(RedisURI.create(guard.uri())).inspector();
    }

    @AfterAll
    static void stop() {
        inspector.close().block(Customer.LIMIT);
        stock.close();
        guard.close();
    }

    /** Payments that last until the test ends them. */
    private static final class Till implements Payments {

        private final Sinks.Empty<Void> paid = Sinks.empty();

        @Override
        public Mono<Void> charge(Order order) {
            return paid.asMono();
        }

        void pay() {
            paid.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
        }
    }

    @Test
    void aCustomerThatWaitsTooLongGetsAConflict() {
        try (Shop shop = open(new Till(), "holdfast.wait-timeout=3s")) {
            shop.customer().stock("busy", 10);
            Disposable buyer = shop.customer().order("busy").subscribe();
            eventually(() -> isHeld("busy"));

            Answer answer = shop.customer().order("busy").block(Customer.LIMIT);

            assertThat(answer.status()).isEqualTo(409);
            assertThat(answer.type()).isEqualTo("application/problem+json");
            assertThat(answer.body()).containsEntry("title", "Busy");
            buyer.dispose();
            eventually(() -> !isHeld("busy"));
        }
    }

    @Test
    void aCustomerThatDisconnectsWhileWaitingLeavesTheQueueAtOnce() {
        Till till = new Till();
        try (Shop shop = open(till, "holdfast.wait-timeout=30s")) {
            shop.customer().stock("left", 10);
            CompletableFuture<Answer> holder = shop.customer().order("left").toFuture();
            eventually(() -> isHeld("left"));
            Disposable waiter = shop.customer().order("left").subscribe();
            eventually(() -> waiting("left") == 1);

            waiter.dispose();

            eventually(() -> waiting("left") == 0);
            assertThat(isHeld("left")).isTrue();
            assertThat(holder).isNotDone();
            till.pay();
            assertThat(holder.orTimeout(20, TimeUnit.SECONDS).join().isSold()).isTrue();
            assertThat(shop.customer().stock("left")).isEqualTo(9);
        }
    }

    @Test
    void aDisconnectWhileHoldingFreesTheLockAndTheNextOrderCompletesTheOrder() {
        Till till = new Till();
        try (Shop shop = open(till, "holdfast.wait-timeout=30s")) {
            shop.customer().stock("dropped", 10);
            Disposable holder = shop.customer().order("dropped", "first").subscribe();
            eventually(() -> isHeld("dropped"));
            eventually(() -> shop.customer().stock("dropped") == 9); // reserved

            holder.dispose();

            eventually(() -> !isHeld("dropped"));
            till.pay();
            assertThat(shop.customer()
                            .order("dropped", "second")
                            .block(Customer.LIMIT)
                            .isSold())
                    .isTrue();
            assertThat(shop.customer().sold("dropped")).containsExactly("first", "second");
            assertThat(shop.customer().stock("dropped")).isEqualTo(8);
        }
    }

    @Test
    void anUnreachableBackEndIsReportedAndTheHealthIsDown() {
        // A server of its own, since the other tests need theirs.
        try (RedisServer own = RedisServer.start();
                Shop shop = open(stock, own, order -> Mono.empty(), "holdfast.wait-timeout=3s")) {
            shop.customer().stock("away", 10);
            assertThat(shop.customer().health().status()).isEqualTo(200);

            own.stop();

            Answer answer = shop.customer().order("away").block(Customer.LIMIT);
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.type()).isEqualTo("application/problem+json");
            assertThat(answer.body()).containsEntry("title", "Not available");
            Answer health = shop.customer().health();
            assertThat(health.status()).isEqualTo(503);
            assertThat(health.body().get("components"))
                    .asString()
                    .contains("holdfast={status=DOWN")
                    .contains("redis={status=UP");

            own.restart();

            eventually(() -> shop.customer().health().status() == 200);
            assertThat(shop.customer().order("away").block(Customer.LIMIT).isSold())
                    .isTrue();
            assertThat(shop.customer().stock("away")).isEqualTo(9);
        }
    }

    @Test
    void anUnreachableStockIsReported() {
        try (RedisServer own = RedisServer.start();
                Shop shop = open(own, guard, order -> Mono.empty())) {
            shop.customer().stock("gone", 10);

            own.stop();

            Answer answer = shop.customer().order("gone").block(Customer.LIMIT);
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.type()).isEqualTo("application/problem+json");
            assertThat(answer.body()).containsEntry("title", "Interrupted");
            assertThat(isHeld("gone")).isFalse();
        }
    }

    @Test
    void aRequestWithoutAnOrderIsRefused() {
        try (Shop shop = open(order -> Mono.empty())) {
            HttpStatusCode status = shop.customer()
                    .http()
                    .post()
                    .uri("/orders")
                    .exchangeToMono(response -> response.releaseBody().thenReturn(response.statusCode()))
                    .block(Customer.LIMIT);

            assertThat(status).isEqualTo(HttpStatus.BAD_REQUEST);
        }
    }

    @Test
    void theShutdownWaitsForARequestInFlightAndLeavesNoLock() {
        Till till = new Till();
        Shop shop = open(till);
        shop.customer().stock("last", 10);
        CompletableFuture<Answer> order = shop.customer().order("last").toFuture();
        eventually(() -> isHeld("last"));

        CompletableFuture<Void> end = CompletableFuture.runAsync(shop.context()::close);
        eventually(() -> isRefused(shop));
        assertThat(order).isNotDone();
        assertThat(end).isNotDone();
        assertThat(isHeld("last")).isTrue();
        till.pay();

        assertThat(order.orTimeout(20, TimeUnit.SECONDS).join().isSold()).isTrue();
        end.orTimeout(20, TimeUnit.SECONDS).join();
        assertThat(isHeld("last")).isFalse();
        shop.customer().close();
    }

    @Test
    void theShutdownReleasesHeldLocksWhenTheGracePeriodIsOver() {
        Shop shop = open(new Till(), "spring.lifecycle.timeout-per-shutdown-phase=200ms");
        shop.customer().stock("cut", 10);
        Disposable order = shop.customer().order("cut").onErrorComplete().subscribe();
        eventually(() -> isHeld("cut"));

        shop.close();

        assertThat(isHeld("cut")).isFalse();
        order.dispose();
    }

    private static Shop open(Payments payments, String... more) {
        return open(stock, guard, payments, more);
    }

    private static Shop open(RedisServer stock, RedisServer guard, Payments payments, String... more) {
        return Shop.open(
                payments,
                Stream.concat(
                                Stream.of(
                                        "spring.profiles.active=redis",
                                        "spring.data.redis.url=" + stock.uri(),
                                        "holdfast.redis.uri=" + guard.uri()),
                                Stream.of(more))
                        .toArray(String[]::new));
    }

    /** Opens a connection of its own: during the shutdown, the service still answers on a kept connection that was busy when the shutdown began. */
    private static boolean isRefused(Shop shop) {
        try (Socket accepted = new Socket(InetAddress.getLoopbackAddress(), shop.port())) {
            return !accepted.isConnected();
        } catch (ConnectException refused) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isHeld(String item) {
        return inspected(item).anyMatch(LockReport::isHeld);
    }

    private static long waiting(String item) {
        return inspected(item).mapToLong(LockReport::waiterCount).sum();
    }

    private static Stream<LockReport> inspected(String item) {
        return inspector.inspect("stock/" + item).collectList().block(Customer.LIMIT).stream();
    }

    /** Polls, since a real server signals no event for this state. */
    private static void eventually(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Customer.LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("patience").isNegative();
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
        }
    }
}
