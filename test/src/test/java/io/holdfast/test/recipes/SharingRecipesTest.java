package io.holdfast.test.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.ReactiveSemaphore;
import io.holdfast.test.Rival;
import io.holdfast.test.TestLocks;
import java.text.Normalizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Recipes of docs/guides/recipes.md with several locks, several holders or many names. */
class SharingRecipesTest {

    @RegisterExtension
    final TestLocks test = TestLocks.virtualTime();

    private final LockClient locks = test.client();

    private final Bank accounts = new Bank();
    private final List<String> done = new ArrayList<>();
    private int inside;
    private int mostInside;

    private final Mono<String> callPartner = step("called");
    private final Mono<String> readReport = step("read");
    private final Mono<Void> importOrders = step("imported").then();
    private final Mono<String> readPrices = step("read");
    private final Mono<Void> writePrices = step("written").then();

    private Mono<String> step(String what) {
        return Mono.defer(() -> {
            inside++;
            mostInside = Math.max(mostInside, inside);
            return Mono.delay(Duration.ofSeconds(1)).map(tick -> {
                inside--;
                done.add(what);
                return what;
            });
        });
    }

    // recipe: begin
    Mono<String> bookBoth() {
        ReactiveMultiLock both = locks.all(locks.lock("room/7"), locks.lock("projector/2"))
                .with(LockOptions.builder().waitTimeout(Duration.ofSeconds(3)).build());
        return both.withLock(leases -> book(
                leases.of("room/7").fencingToken(), leases.of("projector/2").fencingToken()));
    }
    // recipe: end

    private Mono<String> book(long roomToken, long projectorToken) {
        return step("room " + roomToken + ", projector " + projectorToken);
    }

    @Test
    void severalLocksAreHeldTogetherOrNotAtAll() {
        assertThat(test.await(bookBoth())).matches("room \\d, projector \\d");

        Rival rival = test.holdElsewhere("room/7");
        assertThatThrownBy(() -> test.await(bookBoth()))
                .isInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("room/7");
        test.assertThat("projector/2").isFree();

        rival.release();
        assertThat(test.await(bookBoth())).matches("room \\d, projector \\d");
    }

    // recipe: begin
    Mono<Void> transfer(String from, String to, long amount) {
        if (from.equals(to)) {
            return Mono.empty(); // two writes to one account: the second one would create money
        }
        String payer = "account/" + from;
        String payee = "account/" + to;
        return locks.all(locks.lock(payer), locks.lock(payee)).withLock(leases -> {
            long fromToken = leases.of(payer).fencingToken();
            long toToken = leases.of(payee).fencingToken();
            return accounts.read(from, fromToken)
                    .zipWith(accounts.read(to, toToken))
                    .flatMap(balances -> accounts.write(from, balances.getT1() - amount, fromToken)
                            .then(accounts.write(to, balances.getT2() + amount, toToken)));
        });
    }
    // recipe: end

    @Test
    void transfersInBothDirectionsNeitherWaitForEachOtherNorLoseMoney() {
        test.await(Flux.range(0, 20)
                .flatMap(i -> i % 2 == 0 ? transfer("a", "b", 1) : transfer("b", "a", 2))
                .then(transfer("a", "a", 50)));

        assertThat(accounts.balances).containsEntry("a", 110L).containsEntry("b", 90L);
    }

    // recipe: begin
    Flux<String> deliver(Flux<Order> orders) {
        return orders.flatMap(
                order -> locks.lock("customer/" + order.customer()).withLock(pack(order)),
                16); // orders under way at one time, those that wait for their lock included
    }
    // recipe: end

    private record Order(String customer, int number) {}

    private Mono<String> pack(Order order) {
        return step("order " + order.number());
    }

    @Test
    void ordersOfDifferentCustomersGoOnTogetherAndThoseOfOneCustomerDoNot() {
        CompletableFuture<List<String>> delivered = deliver(
                        Flux.just(new Order("ann", 1), new Order("ann", 2), new Order("bob", 3)))
                .collectList()
                .toFuture();

        test.advance(Duration.ofSeconds(1));
        assertThat(done).containsExactlyInAnyOrder("order 1", "order 3");
        test.advance(Duration.ofSeconds(1));
        assertThat(delivered).isCompleted();
        assertThat(mostInside).isEqualTo(2);
    }

    // recipe: begin
    Mono<String> print(String document) {
        LockOptions oneAttempt =
                LockOptions.builder().waitTimeout(Duration.ZERO).build();
        return Flux.just("printer/1", "printer/2", "printer/3")
                .concatMap(printer -> locks.lock(printer)
                        .with(oneAttempt)
                        .withLock(lease -> printAt(printer, document)) // gives a value: empty means busy here
                        .onErrorResume(
                                LockTimeoutException.class,
                                late -> late.backendAnswered() ? Mono.empty() : Mono.error(late)))
                .next()
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("all printers are busy")));
    }
    // recipe: end

    private Mono<String> printAt(String printer, String document) {
        return step(document + " at " + printer);
    }

    @Test
    void theFirstFreeOneOfSeveralIsTaken() {
        test.holdElsewhere("printer/1");

        assertThat(test.await(print("menu"))).isEqualTo("menu at printer/2");
        test.assertThat("printer/2").isFree().grants(1);
        test.assertThat("printer/3").grants(0);

        test.holdElsewhere("printer/2");
        test.holdElsewhere("printer/3");
        assertThatThrownBy(() -> test.await(print("menu"))).hasMessage("all printers are busy");
    }

    // recipe: begin
    Mono<String> callWithLimit() {
        ReactiveLock partner = locks.semaphore("partner-api", 5)
                .with(LockOptions.builder().waitTimeout(Duration.ofSeconds(2)).build());
        return partner.withLock(callPartner);
    }
    // recipe: end

    @Test
    void fiveCallsRunAtOneTime() {
        assertThat(test.await(Flux.range(0, 10).flatMap(i -> callWithLimit()).count()))
                .isEqualTo(10);
        assertThat(mostInside).isEqualTo(5);

        test.permitsElsewhere("partner-api", 5, 5);
        assertThatThrownBy(() -> test.await(callWithLimit())).isInstanceOf(LockTimeoutException.class);
    }

    @Test
    void anImportTakesFiveConnectionsAndAReportTakesOne() {
        // recipe: begin
        ReactiveSemaphore connections = locks.semaphore("warehouse/connections", 20);
        Mono<String> report = connections.withLock(readReport);
        Mono<Void> nightly = connections.permits(5).withLock(importOrders);
        // recipe: end
        Rival rival = test.permitsElsewhere("warehouse/connections", 20, 16);
        CompletableFuture<Void> imported = nightly.toFuture();
        CompletableFuture<String> read = report.toFuture();
        assertThat(inside)
                .as("four permits are free, and the import came first")
                .isZero();

        rival.release();
        assertThat(inside).isEqualTo(2);
        test.advance(Duration.ofSeconds(1));
        assertThat(imported).isCompleted();
        assertThat(read).isCompletedWithValue("read");
    }

    @Test
    void readersReadTogetherAndAWriterWritesAlone() {
        // recipe: begin
        ReactiveReadWriteLock prices = locks.readWriteLock("prices");
        Mono<String> read = prices.readLock().withLock(readPrices);
        Mono<Void> write = prices.writeLock().withLock(writePrices);
        // recipe: end
        test.await(Mono.when(read, read, write, read));

        assertThat(done).containsExactly("read", "read", "written", "read");
        assertThat(mostInside).isEqualTo(2);
    }

    // recipe: begin
    static String lockOf(String account) { // as a user typed it
        String name =
                Normalizer.normalize(account.strip(), Normalizer.Form.NFKC).toLowerCase(Locale.ROOT);
        if (name.isEmpty() || name.length() > 100) {
            throw new IllegalArgumentException("an account has 1 to 100 characters");
        }
        return "account/" + name;
    }
    // recipe: end

    @Test
    void twoSpellingsOfOneNameAreOneLock() {
        test.holdElsewhere(lockOf("Ju\u0308rgen"));

        assertThat(test.await(locks.lock(lockOf(" j\u00fcrgen ")).tryAcquire())).isNull();
        assertThatThrownBy(() -> lockOf(" ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> lockOf("x".repeat(101))).isInstanceOf(IllegalArgumentException.class);
    }

    /** Two accounts with the two statements of the README. */
    private static final class Bank {

        private final Map<String, Long> balances = new HashMap<>(Map.of("a", 100L, "b", 100L));
        private final Map<String, Long> tokens = new HashMap<>();

        Mono<Long> read(String account, long token) {
            return Mono.delay(Duration.ofMillis(5)).map(tick -> {
                assertThat(tokens.getOrDefault(account, 0L)).isLessThanOrEqualTo(token);
                tokens.put(account, token);
                return balances.getOrDefault(account, 0L);
            });
        }

        Mono<Void> write(String account, long balance, long token) {
            return Mono.delay(Duration.ofMillis(5))
                    .doOnNext(tick -> {
                        assertThat(tokens).containsEntry(account, token);
                        balances.put(account, balance);
                    })
                    .then();
        }
    }
}
