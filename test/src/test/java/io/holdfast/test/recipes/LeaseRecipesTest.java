package io.holdfast.test.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.test.TestLocks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Recipes of docs/guides/recipes.md about a lease: handed on, kept long, lost, found again. */
class LeaseRecipesTest {

    @RegisterExtension
    final TestLocks test = TestLocks.virtualTime();

    private final LockClient locks = test.client();

    private final Map<String, String> sent = new HashMap<>();
    private final List<String> done = new ArrayList<>();

    private Flux<String> chunks =
            Flux.defer(() -> Flux.just("one", "two", "three").delayElements(Duration.ofMinutes(10)));

    private Mono<Void> step(String what) {
        return Mono.delay(Duration.ofMinutes(1))
                .doOnNext(tick -> done.add(what))
                .then();
    }

    // recipe: begin
    Mono<Void> accept(String job) { // in the first process
        return locks.lock("report/" + job)
                .withLock(LockLease::export) // ends the lease here; the back end keeps the lock
                .flatMap(lease -> send(job, lease));
    }

    Mono<Void> received(String job, String exported) { // in the second one
        return Mono.usingWhen(
                locks.adopt(exported), // renews at once; LockLostException if it came too late
                lease -> work(job, lease.fencingToken()), // the token of the first process
                LockLease::release);
    }
    // recipe: end

    private Mono<Void> send(String job, String lease) {
        return Mono.fromRunnable(() -> sent.put(job, lease));
    }

    private Mono<Void> work(String job, long token) {
        return step(job + " with token " + token);
    }

    @Test
    void anotherProcessGoesOnUnderTheLeaseAndItsToken() {
        test.await(accept("7"));
        assertThat(test.await(locks.lock("report/7").tryAcquire()))
                .as("still held")
                .isNull();

        test.await(received("7", sent.get("7")));
        assertThat(done).containsExactly("7 with token 1");
        test.assertThat("report/7").isFree();
    }

    @Test
    void aLeaseThatArrivesTooLateIsLost() {
        test.await(accept("7"));
        test.advance(Duration.ofSeconds(31));

        assertThatThrownBy(() -> test.await(received("7", sent.get("7")))).isInstanceOf(LockLostException.class);
        assertThat(done).isEmpty();
    }

    // recipe: begin
    Mono<Void> publish() {
        return Mono.usingWhen(
                locks.readWriteLock("report").writeLock().acquire(),
                writing -> writeReport(writing.fencingToken())
                        .then(Mono.usingWhen(writing.downgrade(), reading -> sendReport(), LockLease::release)),
                LockLease::release); // does nothing after the downgrade: the write lease has ended
    }
    // recipe: end

    private Mono<Void> writeReport(long token) {
        return step("written with token " + token);
    }

    private Mono<Void> sendReport() {
        return step("sent");
    }

    @Test
    void readersJoinAfterTheDowngradeAndWritersDoNot() {
        CompletableFuture<Void> published = publish().toFuture();
        Mono<LockLease> reader = locks.readWriteLock("report")
                .readLock()
                .tryAcquire()
                .flatMap(it -> it.release().thenReturn(it));
        Mono<LockLease> writer = locks.readWriteLock("report").writeLock().tryAcquire();
        assertThat(test.await(reader)).as("while it is written").isNull();

        test.advance(Duration.ofMinutes(1));
        assertThat(test.await(reader)).as("while it is sent").isNotNull();
        assertThat(test.await(writer)).as("while it is sent").isNull();

        test.advance(Duration.ofMinutes(1));
        assertThat(published).isCompleted();
        assertThat(done).containsExactly("written with token 1", "sent");
    }

    // recipe: begin
    Mono<Void> importAll() {
        LockOptions options = LockOptions.builder()
                .leaseDuration(Duration.ofSeconds(15)) // a crash blocks the import for 15 seconds
                .maxHoldTime(Duration.ofHours(2)) // work that hangs loses its lock after two hours
                .build();
        return locks.lock("import")
                .with(options)
                .withLock(lease -> chunks.concatMap(chunk -> write(chunk, lease.fencingToken()))
                        .then());
    }
    // recipe: end

    private Mono<Void> write(String chunk, long token) {
        return step(chunk + " with token " + token);
    }

    @Test
    void longWorkKeepsItsLockAndWorkThatHangsLosesIt() {
        test.await(importAll());
        assertThat(done).containsExactly("one with token 1", "two with token 1", "three with token 1");
        test.assertThat("import").grants(1).isFree();

        chunks = Flux.never();
        CompletableFuture<Void> hanging = importAll().toFuture();
        test.advance(Duration.ofHours(1));
        test.assertThat("import").isHeld();
        test.advance(Duration.ofHours(1));
        assertThat(hanging).isCompletedExceptionally();
        test.assertThat("import").isFree();
    }

    // recipe: begin
    Mono<Void> save(String item, int amount) { // somewhere below withLock, in another class
        return locks.lock("stock/" + item)
                .current() // no request: the Reactor Context carries the lease
                .switchIfEmpty(Mono.error(() -> new IllegalStateException("call save under the lock of the item")))
                .flatMap(lease -> store(item, amount, lease.fencingToken()));
    }
    // recipe: end

    private Mono<Void> store(String item, int amount, long token) {
        return step(item + " " + amount + " with token " + token);
    }

    @Test
    void theTokenIsFoundBelowTheLock() {
        test.await(locks.lock("stock/tea").withLock(save("tea", 3)));

        assertThat(done).containsExactly("tea 3 with token 1");
        assertThatThrownBy(() -> test.await(save("tea", 3))).hasMessage("call save under the lock of the item");
        assertThatThrownBy(() -> test.await(locks.lock("stock/tea").withLock(save("cake", 3))))
                .hasMessage("call save under the lock of the item");
    }
}
