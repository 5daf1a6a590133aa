package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.lettuce.core.RedisURI;
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
import reactor.util.retry.Retry;

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
    void eachScriptIsLoadedOnceOnAConnection() {
        for (int i = 0; i < 10; i++) {
            LockClaim claim = Store.claim("orders");
            Store.answer(backend.tryAcquire(claim));
            Store.answer(backend.renew(claim));
            Store.answer(backend.release(claim));
        }
        assertThat(store.wholeScripts())
                .as("one to acquire and release, one to renew")
                .isEqualTo(2);
        assertThat(store.calls("eval")).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fiveHundredCallsAtOnceSendTheScriptOnce(boolean isRelease) {
        List<LockClaim> claims = claims();
        loadAndRelease();
        if (isRelease) {
            Store.answer(
                    Flux.fromIterable(claims).flatMap(backend::tryAcquire, 512).then());
        }
        forget();

        Long done = Store.answer(Flux.fromIterable(claims)
                .flatMap(it -> isRelease ? backend.release(it) : backend.tryAcquire(it), 512)
                .count());

        assertThat(done).isEqualTo(512);
        assertThat(store.wholeScripts()).isEqualTo(1);
        assertThat(store.calls("evalsha")).isLessThanOrEqualTo(2 * 512);
        assertThat(store.keys()).filteredOn(key -> !key.contains("warm-up")).hasSize(512);
    }

    /** Otherwise the calls go one after the other for as long as they fail, and the last ones fail with a time-out. */
    @Test
    void aFullServerGetsTheScriptOnce() {
        loadAndRelease();
        assertThat(store.redis().configSet("maxmemory", "1")).isEqualTo("OK");
        forget();

        assertThat(refused("OOM")).isEqualTo(512);
        assertThat(store.wholeScripts()).isEqualTo(1);
    }

    @Test
    void aServerThatTakesNoWritesGetsTheScriptOnceForEachConnection() {
        loadAndRelease();
        assertThat(store.redis().replicaof("127.0.0.1", 1)).isEqualTo("OK");
        forget();

        assertThat(refused("READONLY")).isEqualTo(512);
        assertThat(store.wholeScripts()).isLessThan(20);
        assertThat(store.redis().replicaofNoOne()).isEqualTo("OK");
    }

    @Test
    void callsThatWaitForTheScriptDoNotWaitForOneThatWasWithdrawn() {
        loadAndRelease();
        forget();
        store.server.pause();
        Disposable first = backend.tryAcquire(Store.claim("withdrawn")).subscribe();
        CompletableFuture<List<LockAttempt>> others = Flux.range(0, 100)
                .flatMapSequential(n -> backend.tryAcquire(Store.claim("orders " + n)), 100)
                .collectList()
                .toFuture();
        first.dispose();
        store.server.resume();

        assertThat(others.join()).hasSize(100).allMatch(LockAttempt.Acquired.class::isInstance);
        assertThat(store.wholeScripts()).isEqualTo(1);
    }

    @Test
    void repairSendsNothingForAnAttemptThatWasCancelled() {
        loadAndRelease();
        forget();
        store.server.pause();
        // Written to the socket, answered with NOSCRIPT when the server goes on: no caller waits for it then.
        backend.tryAcquire(Store.claim("orders")).subscribe().dispose();
        store.server.resume();
        Store.answer(backend.ping());
        assertThat(store.calls("evalsha")).isLessThanOrEqualTo(1);
        assertThat(store.leftovers()).isEmpty();
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
        assertThat(store.wholeScripts()).isEqualTo(1);
    }

    /** Otherwise claims would be left behind: each release is requested before its attempt is answered. */
    @Test
    void releasesDoNotOvertakeTheirAttemptsWhileScriptsAreFlushed() {
        loadAndRelease();
        CompletableFuture<Long> held = Flux.range(0, 20)
                .concatMap(round -> Flux.fromIterable(claims())
                        .flatMap(claim -> Flux.merge(backend.tryAcquire(claim).then(Mono.empty()), release(claim)), 512)
                        .count())
                .reduce(0L, Long::sum)
                .toFuture();
        while (!held.isDone()) {
            flush();
        }
        assertThat(held.join()).isEqualTo(20 * 512L);
        assertThat(store.leftovers()).isEmpty();
    }

    private Mono<Ownership> release(LockClaim claim) {
        return backend.release(claim).filter(Ownership.HELD::equals);
    }

    @Test
    void aServerThatWasRestartedGetsTheScriptOnce() {
        loadAndRelease();
        store.server.restart();

        Long done = Store.answer(Flux.fromIterable(claims())
                .flatMap(
                        claim -> backend.tryAcquire(claim)
                                .retryWhen(Retry.fixedDelay(100, Duration.ofMillis(50))
                                        .filter(LockBackendException.class::isInstance)),
                        512)
                .count());

        assertThat(done).isEqualTo(512);
        assertThat(store.wholeScripts()).isEqualTo(1);
    }

    /** A call brings the script then. */
    @Test
    void aUserWithoutTheRightToLoadScriptsCanLock() {
        store.user("locks", "on >secret allkeys allchannels +@all -script");
        RedisLockBackend other = RedisLockBackend.create(RedisURI.builder(store.uri())
                .withAuthentication("locks", "secret")
                .build());
        forget();

        Long done = Store.answer(
                Flux.fromIterable(claims()).flatMap(other::tryAcquire, 512).count());

        assertThat(done).isEqualTo(512);
        assertThat(store.calls("eval")).isEqualTo(1);
        Store.end(other);
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

    private static List<LockClaim> claims() {
        return IntStream.range(0, 512).mapToObj(n -> Store.claim("orders " + n)).toList();
    }

    /** The script is at the server, and the client knows that. */
    private void loadAndRelease() {
        LockClaim claim = Store.claim("warm-up");
        Store.answer(backend.tryAcquire(claim));
        Store.answer(backend.release(claim));
    }

    private void forget() {
        flush();
        assertThat(store.redis().configResetstat()).isEqualTo("OK");
    }

    private void flush() {
        assertThat(store.redis().scriptFlush()).isEqualTo("OK");
    }
}
