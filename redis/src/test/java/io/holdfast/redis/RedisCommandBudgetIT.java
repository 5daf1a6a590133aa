package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** The commands on the wire, counted by the server. */
class RedisCommandBudgetIT {

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
    void uncontendedCycleIsTwoCommandsAndNothingElse() {
        cycle("warm-up");
        String before = store.redis().configResetstat();
        assertThat(before).isEqualTo("OK");
        for (int i = 0; i < 100; i++) {
            cycle("orders");
        }
        assertThat(store.calls("evalsha")).isEqualTo(200);
        List<String> others =
                List.of("eval", "script\\|load", "publish", "subscribe", "client", "hello", "ping", "wait", "zadd");
        assertThat(others)
                .allSatisfy(
                        command -> assertThat(store.calls(command)).as(command).isZero());
        assertThat(store.calls("info")).as("only those of the test").isLessThan(20);
    }

    @Test
    void uncontendedCycleIsSixCallsInsideTheServer() {
        cycle("orders");
        store.redis().configResetstat();
        cycle("orders");
        long inside =
                List.of("exists", "time", "get", "set", "hset", "pexpire", "hmget", "del", "hget", "zrem", "hdel")
                        .stream()
                        .mapToLong(store::calls)
                        .sum();
        assertThat(inside).isEqualTo(6);
    }

    @Test
    void uncontendedClientHasOneConnectionEvenWhenItWatches() {
        long before = store.clients();
        LockClaim claim = Store.claim("orders", Waiting.QUEUE);
        Disposable watch = backend.watch(claim).subscribe();
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        watch.dispose();
        assertThat(store.clients()).isEqualTo(before + 1);
        assertThat(backend.operations().watchCount()).isZero();
    }

    @Test
    void contendedHandOffIsThreeCommands() throws InterruptedException {
        LockClaim holder = Store.claim("orders");
        LockClaim first = Store.claim("orders", Waiting.QUEUE);
        LockClaim second = Store.claim("orders", Waiting.QUEUE);
        Store.answer(backend.tryAcquire(holder));
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        List<Disposable> watches = new ArrayList<>();
        watches.add(backend.watch(first).subscribe(signals::add));
        Store.answer(backend.tryAcquire(first));
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Armed.class);
        Store.answer(backend.renew(holder));
        store.redis().configResetstat();

        watches.add(backend.watch(second).subscribe(it -> {}));
        assertThat(Store.answer(backend.tryAcquire(second))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Granted.class);
        assertThat(Store.answer(backend.renew(first))).isInstanceOf(Renewal.Held.class);

        assertThat(store.calls("evalsha") + store.calls("eval")).isEqualTo(3 + store.calls("eval"));
        assertThat(store.calls("publish"))
                .as("the answer to the release has the grant")
                .isZero();
        assertThat(store.calls("subscribe")).isZero();
        watches.forEach(Disposable::dispose);
    }

    /** The record says that there may be waiters; the last one has got the lock. */
    @Test
    void theLastReleaseOfABurstIsFiveCallsInsideTheServer() {
        LockClaim holder = Store.claim("orders");
        LockClaim last = Store.claim("orders", Waiting.QUEUE);
        Store.answer(backend.tryAcquire(holder));
        Disposable watch = backend.watch(last).subscribe();
        Store.answer(backend.tryAcquire(last));
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        long before = store.serverWork();

        assertThat(Store.answer(backend.release(last))).isEqualTo(Ownership.HELD);

        assertThat(store.serverWork() - before).as("with the call itself").isEqualTo(6);
        assertThat(store.redis().get(Store.holderKey("orders"))).startsWith("1F0");
        watch.dispose();
    }

    @Test
    void batchOfRenewalsIsOneCommand() {
        List<LockClaim> claims = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            claims.add(Store.claim("lock-" + i));
        }
        claims.forEach(claim -> Store.answer(backend.tryAcquire(claim)));
        Store.answer(backend.renew(claims.get(0)));
        store.redis().configResetstat();
        List<Renewal> answers = Store.answer(backend.renewAll(claims).collectList());
        assertThat(answers).hasSize(100).allMatch(Renewal.Held.class::isInstance);
        assertThat(store.calls("evalsha")).isEqualTo(1);
    }

    @Test
    void queueOfAKilledClientCostsOnePublish() {
        RedisLockBackend killed = store.backend();
        LockClaim holder = Store.claim("orders");
        Store.answer(backend.tryAcquire(holder));
        for (int i = 0; i < 300; i++) {
            LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
            Disposable watch = killed.watch(waiter).subscribe();
            assertThat(Store.answer(killed.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
            assertThat(watch.isDisposed()).isFalse();
        }
        Store.end(killed);
        ClientOverRedis.eventually(() -> store.redis().pubsubChannels().size() == 1);
        store.redis().configResetstat();
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        assertThat(store.calls("publish")).isEqualTo(1);
        assertThat(Store.answer(backend.tryAcquire(Store.claim("orders")))).isInstanceOf(LockAttempt.Acquired.class);
    }

    private void cycle(String name) {
        LockClaim claim = Store.claim(name);
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
    }
}
