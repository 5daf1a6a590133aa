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
import java.util.List;
import java.util.Locale;
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
                leases.lease("room/7").fencingToken(),
                leases.lease("projector/2").fencingToken()));
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
}
