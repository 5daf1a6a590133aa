package io.holdfast.examples.fenced;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockLostException;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.spring.LockClientCustomizer;
import io.holdfast.testkit.server.PostgresServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Two instances of the real application, with stock and locks in one PostgreSQL. */
class FencedOrdersIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static PostgresServer server;
    private static String url;

    @BeforeAll
    static void start() throws IOException {
        server = PostgresServer.run("fsync=off", "full_page_writes=off");
        url = "r2dbc:postgresql://%s@%s:%d/%s"
                .formatted(PostgresServer.USER, server.host(), server.port(), PostgresServer.DATABASE);
        try (InputStream file = R2dbcLockBackend.class.getResourceAsStream("postgresql/holdfast-1.sql")) {
            var unused = texts(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** A payment that lasts until the test ends it. */
    private static final class Till implements Payments {

        private final CompletableFuture<Order> asked = new CompletableFuture<>();
        private final Sinks.Empty<Void> paid = Sinks.empty();

        @Override
        public Mono<Void> charge(Order order) {
            asked.complete(order);
            return paid.asMono();
        }
    }

    /** An instance whose clock stands still, like a paused process: it neither renews its leases nor notices their end. */
    private static final LockClientCustomizer STANDS_STILL = client -> client.timer(VirtualTimeScheduler.create());

    @Test
    void aPausedHolderWritesNothingAndTheNextOwnerCompletesItsOrder() throws Exception {
        Till till = new Till();
        AtomicInteger charges = new AtomicInteger();
        try (var paused = open(till, STANDS_STILL, "holdfast.lease-duration=1s");
                var other = open(
                        order -> Mono.fromRunnable(charges::incrementAndGet),
                        client -> client,
                        "holdfast.wait-timeout=30s")) {
            stock("tea", 10);
            Order late = new Order("late", "tea", 1);
            CompletableFuture<Receipt> held = orders(paused).place(late).toFuture();
            assertThat(till.asked.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(late);
            assertThat(paid("tea")).isEmpty();

            Receipt sold = orders(other).place(new Order("other", "tea", 2)).block(PATIENCE);
            assertThat(paid("tea")).containsExactlyInAnyOrder("late", "other");
            till.paid.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);

            assertThatThrownBy(() -> held.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(LockLostException.class);
            Receipt again = orders(other).place(late).block(PATIENCE);
            assertThat(again.token()).isLessThan(sold.token()); // the first receipt
            assertThat(texts("select amount from stock where item = 'tea'")).containsExactly("7");
            assertThat(charges).hasValue(2);
        }
    }

    @Test
    void anOrderIsSoldThoughItsCustomerDisconnectsAfterThePayment() throws Exception {
        Till till = new Till();
        try (var shop = open(till, client -> client)) {
            stock("jam", 10);
            Disposable customer =
                    orders(shop).place(new Order("left", "jam", 1)).subscribe();
            assertThat(till.asked.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).id())
                    .isEqualTo("left");

            customer.dispose();
            till.paid.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
            orders(shop).place(new Order("next", "jam", 2)).block(PATIENCE);

            assertThat(paid("jam")).containsExactlyInAnyOrder("left", "next");
            assertThat(texts("select amount from stock where item = 'jam'")).containsExactly("7");
        }
    }

    @Test
    void aRefusedPaymentPutsTheItemsBackAlsoIfTheNextOrderFindsItRefused() {
        AtomicBoolean answers = new AtomicBoolean();
        Payments payments = order -> !order.id().startsWith("poor")
                ? Mono.empty()
                : Mono.error(
                        answers.get() ? new PaymentRefusedException(order) : new IllegalStateException("no answer"));
        try (var shop = open(payments, client -> client)) {
            stock("pen", 10);
            assertThatThrownBy(() ->
                            orders(shop).place(new Order("poor", "pen", 3)).block(PATIENCE))
                    .hasMessage("no answer");
            assertThat(texts("select amount from stock where item = 'pen'")).containsExactly("7");

            answers.set(true);
            orders(shop).place(new Order("rich", "pen", 2)).block(PATIENCE);
            assertThatThrownBy(() ->
                            orders(shop).place(new Order("poor/2", "pen", 3)).block(PATIENCE))
                    .isInstanceOf(PaymentRefusedException.class);

            assertThat(texts("select id from orders where item = 'pen'")).containsExactly("rich");
            assertThat(texts("select amount from stock where item = 'pen'")).containsExactly("8");
        }
    }

    @Test
    void anIdIsForOneOrder() {
        AtomicInteger charges = new AtomicInteger();
        try (var shop = open(order -> Mono.fromRunnable(charges::incrementAndGet), client -> client)) {
            stock("ink", 10);
            stock("nib", 10);
            orders(shop).place(new Order("id", "ink", 1)).block(PATIENCE);
            var unused = texts("insert into orders values ('begun', 'ink', 1, 1, false)");

            for (Order other :
                    List.of(new Order("begun", "nib", 1), new Order("id", "nib", 1), new Order("id", "ink", 2))) {
                assertThatThrownBy(() -> orders(shop).place(other).block(PATIENCE))
                        .isInstanceOf(OtherOrderException.class);
            }

            assertThat(charges).hasValue(2); // the new owner completed the order "begun"
            assertThat(texts("select amount from stock where item = 'nib'")).containsExactly("10");
        }
    }

    @Test
    void theSameOrderIsSoldOnceAndChargedOnce() {
        AtomicInteger charges = new AtomicInteger();
        try (var shop = open(order -> Mono.fromRunnable(charges::incrementAndGet), client -> client)) {
            stock("cup", 10);
            WebClient customer = WebClient.create("http://127.0.0.1:" + port(shop));

            List<Receipt> receipts = Flux.range(0, 2)
                    .concatMap(time -> customer.post()
                            .uri("/orders")
                            .bodyValue(Map.of("id", "twice", "item", "cup", "quantity", 3))
                            .retrieve()
                            .bodyToMono(Receipt.class))
                    .collectList()
                    .block(PATIENCE);

            assertThat(receipts.get(1)).isEqualTo(receipts.get(0));
            assertThat(charges).hasValue(1);
            assertThat(texts("select amount from stock where item = 'cup'")).containsExactly("7");
        }
    }

    @Test
    void twoInstancesSellTheWholeStockAndNoMore() {
        int items = 20;
        int buyers = 40;
        try (var one = open(order -> Mono.empty(), client -> client, "holdfast.wait-timeout=50s");
                var two = open(order -> Mono.empty(), client -> client, "holdfast.wait-timeout=50s")) {
            stock("pot", items);

            long sold = Flux.range(0, buyers)
                    .flatMap(
                            n -> orders(n % 2 == 0 ? one : two)
                                    .place(new Order("pot/" + n, "pot", 1))
                                    .onErrorResume(SoldOutException.class, none -> Mono.empty()),
                            buyers)
                    .count()
                    .block(PATIENCE);

            assertThat(sold).isEqualTo(items);
            assertThat(texts("select amount from stock where item = 'pot'")).containsExactly("0");
            assertThat(paid("pot")).hasSize(items);
        }
    }

    private static ConfigurableApplicationContext open(
            Payments payments, LockClientCustomizer customizer, String... more) {
        String[] arguments = Stream.concat(
                        Stream.of(
                                "server.port=0",
                                "spring.main.banner-mode=off",
                                "spring.r2dbc.url=" + url,
                                "spring.r2dbc.pool.max-size=20"),
                        Stream.of(more))
                .map(property -> "--" + property)
                .toArray(String[]::new);
        return new SpringApplicationBuilder(FencedOrdersApplication.class)
                .initializers((GenericApplicationContext it) -> {
                    it.registerBean(Payments.class, () -> payments);
                    it.registerBean(LockClientCustomizer.class, () -> customizer);
                })
                .run(arguments);
    }

    private static Orders orders(ConfigurableApplicationContext instance) {
        return instance.getBean(Orders.class);
    }

    private static int port(ConfigurableApplicationContext instance) {
        return ((WebServerApplicationContext) instance).getWebServer().getPort();
    }

    private static List<String> paid(String item) {
        return texts("select id from orders where paid and item = '%s'".formatted(item));
    }

    private static void stock(String item, int amount) {
        var unused = texts("insert into stock values ('%s', %d)".formatted(item, amount));
    }

    /** Reads the first column of each row, on a connection of its own. */
    private static List<String> texts(String sql) {
        return Flux.usingWhen(
                        ConnectionFactories.get(url).create(),
                        open -> Flux.from(open.createStatement(sql).execute())
                                .concatMap(result -> result.map(row -> String.valueOf(row.get(0)))),
                        Connection::close)
                .collectList()
                .block(PATIENCE);
    }
}
