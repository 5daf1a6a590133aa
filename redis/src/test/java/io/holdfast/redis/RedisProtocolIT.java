package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Each version of the protocol and each database carries scripts, queue and push. */
class RedisProtocolIT {

    @Test
    void respThreeIsSpokenWithAServerThatHasIt() throws InterruptedException {
        try (Store store = Store.start()) {
            store.redis().configResetstat();
            handsOver(store.uri());
            assertThat(store.calls("hello")).as("one for each connection").isEqualTo(3);
        }
    }

    @Test
    void respTwoIsSpokenWithAServerThatHasNoHello() throws InterruptedException {
        try (Store store = Store.start("--rename-command", "HELLO", "")) {
            handsOver(store.uri());
        }
    }

    @Test
    void everyKeyIsInTheDatabaseOfTheAddress() throws InterruptedException {
        try (Store store = Store.start()) {
            RedisURI third = RedisURI.builder(store.uri()).withDatabase(3).build();
            handsOver(third);
            assertThat(store.keys()).isEmpty();
            assertThat(store.redis().select(3)).isEqualTo("OK");
            assertThat(store.keys()).isEqualTo(List.of(Store.holderKey("orders")));
        }
    }

    /** A release makes a waiter of another client the holder, which confirms it. */
    static void handsOver(RedisURI uri) throws InterruptedException {
        RedisLockBackend one = RedisLockBackend.create(uri);
        RedisLockBackend two = RedisLockBackend.create(uri);
        handsOver(one, two);
        Store.end(one);
        Store.end(two);
    }

    static void handsOver(RedisLockBackend one, RedisLockBackend two) throws InterruptedException {
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        LockClaim holder = Store.claim("orders");
        LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
        Disposable watch = two.watch(waiter).subscribe(signals::add);
        Store.answer(one.tryAcquire(holder));
        Store.answer(two.tryAcquire(waiter));
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Armed.class);

        assertThat(Store.answer(one.release(holder))).isEqualTo(Ownership.HELD);

        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Granted.class);
        assertThat(Store.answer(two.renew(waiter))).isInstanceOf(Renewal.Held.class);
        assertThat(Store.answer(two.release(waiter))).isEqualTo(Ownership.HELD);
        watch.dispose();
    }
}
