package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A server that has forgotten the scripts: after a restart, a failover, SCRIPT FLUSH. */
class ScriptFlushIT {

    private Store store;
    private RedisLockBackend backend;

    @BeforeEach
    void start() {
        store = Store.start();
        backend = store.backend();
    }

    @AfterEach
    void stop() {
        Store.end(backend);
        store.close();
    }

    @Test
    void userDoesNotNoticeAFlush() {
        LockClaim claim = Store.claim("orders");
        for (int i = 0; i < 3; i++) {
            flush();
            assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
            flush();
            assertThat(Store.answer(backend.renew(claim))).isInstanceOf(Renewal.Held.class);
            flush();
            assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        }
    }

    @Test
    void eachScriptIsSentOnceInFull() {
        for (int i = 0; i < 10; i++) {
            LockClaim claim = Store.claim("orders");
            Store.answer(backend.tryAcquire(claim));
            Store.answer(backend.renew(claim));
            Store.answer(backend.release(claim));
        }
        assertThat(store.calls("eval"))
                .as("one to acquire and release, one to renew")
                .isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fiveHundredCallsAtOnceSendTheScriptOnce(boolean isRelease) {
        List<LockClaim> claims = IntStream.range(0, 512)
                .mapToObj(n -> Store.claim("orders " + n))
                .toList();
        if (isRelease) {
            Store.answer(
                    Flux.fromIterable(claims).flatMap(backend::tryAcquire, 512).then());
        }
        Store.answer(backend.ping());
        flush();
        store.redis().configResetstat();

        Long done = Store.answer(Flux.fromIterable(claims)
                .flatMap(it -> isRelease ? backend.release(it) : backend.tryAcquire(it), 512)
                .count());

        assertThat(done).isEqualTo(512);
        assertThat(store.calls("eval")).isEqualTo(1);
        assertThat(store.calls("evalsha")).isLessThanOrEqualTo(2 * 512);
        assertThat(store.keys()).hasSize(512);
    }

    /** Otherwise the calls go one after the other for as long as they fail, and the last ones fail with a time-out. */
    @Test
    void aScriptThatFailedHasArrived() {
        Store.answer(backend.ping());
        flush();
        assertThat(store.redis().configSet("maxmemory", "1")).isEqualTo("OK");
        store.redis().configResetstat();

        assertThat(refused("OOM")).isEqualTo(512);
        assertThat(store.calls("eval")).isEqualTo(1);
    }

    /** The calls go one after the other then, in case that the next connection leads to a master. */
    @Test
    void aServerThatTakesNoWritesGetsTheScriptOnceForEachConnection() {
        Store.answer(backend.ping());
        flush();
        assertThat(store.redis().replicaof("127.0.0.1", 1)).isEqualTo("OK");
        store.redis().configResetstat();

        assertThat(refused("READONLY")).isEqualTo(512);
        assertThat(store.calls("eval")).isLessThan(20);
        assertThat(store.redis().replicaofNoOne()).isEqualTo("OK");
    }

    /** The call that was to bring the script is withdrawn before its answer; another one brings it. */
    @Test
    void callsThatWaitForTheScriptDoNotWaitForOneThatWasWithdrawn() {
        Store.answer(backend.ping());
        store.server.pause();
        Disposable first = backend.tryAcquire(Store.claim("withdrawn")).subscribe();
        CompletableFuture<List<LockAttempt>> others = Flux.range(0, 100)
                .flatMapSequential(n -> backend.tryAcquire(Store.claim("orders " + n)), 100)
                .collectList()
                .toFuture();
        first.dispose();
        store.server.resume();

        assertThat(others.join()).hasSize(100).allMatch(LockAttempt.Acquired.class::isInstance);
        assertThat(store.calls("eval")).isLessThanOrEqualTo(2);
    }

    @Test
    void repairSendsNothingForAnAttemptThatWasCancelled() {
        LockClaim claim = Store.claim("orders");
        Store.answer(backend.ping());
        store.server.pause();
        // Written to the socket, answered with NOSCRIPT when the server goes on: no caller waits for it then.
        backend.tryAcquire(claim).subscribe().dispose();
        store.server.resume();
        Store.answer(backend.ping());
        assertThat(store.calls("eval")).isZero();
        assertThat(store.keys()).isEmpty();
    }

    @Test
    void callsThatAreWithdrawnEarlySendTheWholeScriptNoMoreOften() {
        LockClaim claim = Store.claim("orders");
        Store.answer(backend.tryAcquire(claim));
        for (int i = 0; i < 20; i++) {
            store.server.pause();
            backend.tryAcquire(Store.claim("other")).subscribe().dispose();
            store.server.resume();
            Store.answer(backend.tryAcquire(claim));
        }
        assertThat(store.calls("eval")).isEqualTo(1);
    }

    @Test
    void flushesAtAnyTimeHarmNoClientUnderContention() {
        LockClient client = LockClient.create(store.backend());
        LockClient rival = LockClient.create(store.backend());
        AtomicInteger inside = new AtomicInteger();
        Mono<Integer> work = Mono.fromSupplier(inside::incrementAndGet)
                .delayElement(Duration.ofMillis(1))
                .doOnNext(holders -> inside.decrementAndGet());
        CompletableFuture<List<Integer>> done = Flux.range(0, 200)
                .flatMap(i -> (i % 2 == 0 ? client : rival).lock("orders").withLock(work), 8)
                .collectList()
                .toFuture();
        while (!done.isDone()) {
            flush();
        }
        assertThat(done.join()).hasSize(200).containsOnly(1);
        assertThat(client.close().toFuture()).succeedsWithin(Duration.ofSeconds(10));
        assertThat(rival.close().toFuture()).succeedsWithin(Duration.ofSeconds(10));
        // An attempt that was not answered in time, on a slow machine, leaves a tombstone, which expires.
        assertThat(store.keys())
                .filteredOn(key -> key.contains(":gone"))
                .allSatisfy(key -> assertThat(store.redis().pttl(key)).isBetween(1L, 30_000L));
        assertThat(store.leftovers()).isEmpty();
    }

    /** Sends 512 attempts at once. Returns how many of them the server refused with this error. */
    private Long refused(String error) {
        return Store.answer(Flux.range(0, 512)
                .flatMap(
                        n -> backend.tryAcquire(Store.claim("orders " + n))
                                .then(Mono.<Throwable>empty())
                                .onErrorResume(Mono::just),
                        512)
                .filter(failed -> failed.getMessage().contains(error))
                .count());
    }

    private void flush() {
        assertThat(store.redis().scriptFlush()).isEqualTo("OK");
    }
}
