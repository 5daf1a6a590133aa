package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The client's one channel: when it opens, what comes through it, and what happens when it breaks. */
class RedisChannelIT {

    private Store store;
    private RedisLockBackend backend;
    private final BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();

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
    void watchIsArmedAtOnceWhenTheChannelIsUp() throws InterruptedException {
        LockClaim holder = holder();
        queued(holder);
        next(WatchSignal.Armed.class);
        Disposable watch = backend.watch(Store.claim("another")).subscribe(signals::add);
        assertThat(signals.poll()).as("no round trip").isInstanceOf(WatchSignal.Armed.class);
        watch.dispose();
    }

    @Test
    void watchIsArmedAgainAfterTheChannelBrokeAndAnAttemptSeesWhatWasMissed() throws InterruptedException {
        LockClaim holder = holder();
        LockClaim waiter = queued(holder);
        next(WatchSignal.Armed.class);

        store.redis().clientKill(KillArgs.Builder.typePubsub());
        RedisLockBackend other = store.backend();
        assertThat(Store.answer(other.release(holder))).isEqualTo(Ownership.HELD);
        next(WatchSignal.Armed.class);

        assertThat(Store.answer(backend.tryAcquire(waiter.withAttempt(2)))).isInstanceOf(LockAttempt.Acquired.class);
        Store.end(other);
    }

    /** The attempt comes after the channel has come up, so its answer shows nothing about the channel. */
    @Test
    void watchIsArmedWhenTheChannelComesUpBeforeTheFirstAttempt() throws InterruptedException {
        queued(holder());
        next(WatchSignal.Armed.class);
        store.redis().clientKill(KillArgs.Builder.typePubsub());
        store.server.pause(); // usually before the channel is restored
        Mono<WatchSignal> armed = backend.watch(Store.claim("another", Waiting.QUEUE))
                .filter(WatchSignal.Armed.class::isInstance)
                .next();
        CompletableFuture<WatchSignal> told = armed.toFuture();
        store.server.resume();
        assertThat(told).succeedsWithin(Duration.ofSeconds(10));
    }

    @Test
    void grantsComeThroughAChannelThatWasRestored() throws InterruptedException {
        LockClaim holder = holder();
        LockClaim waiter = queued(holder);
        next(WatchSignal.Armed.class);
        store.redis().clientKill(KillArgs.Builder.typePubsub());
        next(WatchSignal.Armed.class);

        Store.answer(backend.release(holder));
        next(WatchSignal.Granted.class);
        assertThat(Store.answer(backend.renew(waiter))).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void aFirstSubscriptionThatIsNeverConfirmedIsTriedOnAnotherConnection() throws IOException {
        AtomicInteger subscriptions = new AtomicInteger();
        AtomicInteger connections = new AtomicInteger();
        try (FakeServer mute = FakeServer.answering(command -> switch (command) {
            case "hello" -> {
                connections.incrementAndGet();
                yield FakeServer.HELLO;
            }
            case "ping" -> "+PONG";
            case "info" -> "-NOPERM no";
            case "evalsha" -> "*2\r\n:2\r\n:10000";
            case "subscribe" -> {
                yield subscriptions.incrementAndGet() == 1 ? null : "";
            }
            default -> "+OK";
        })) {
            RedisLockBackend waiting = RedisLockBackend.create(RedisURI.create("127.0.0.1", mute.port()));
            LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
            assertThatThrownBy(() -> Store.answer(waiting.tryAcquire(waiter))).isInstanceOf(LockBackendException.class);
            assertThat(Store.answer(waiting.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
            assertThat(connections).hasValue(2);
            Store.end(waiting);
        }
    }

    @Test
    void watchesSurviveARestartOfTheServer() throws InterruptedException {
        LockClaim holder = holder();
        queued(holder);
        next(WatchSignal.Armed.class);
        store.server.restart();
        next(WatchSignal.Armed.class);
    }

    @Test
    void grantWithoutAWaitingClaimGoesToTheNextWaiter() throws InterruptedException {
        LockClaim holder = holder();
        LockClaim gone = Store.claim("orders", Waiting.QUEUE);
        Disposable watch = backend.watch(gone).subscribe(signals::add);
        Store.answer(backend.tryAcquire(gone));
        next(WatchSignal.Armed.class);
        Store.answer(backend.tryAcquire(gone.withAttempt(2)));
        watch.dispose();
        assertThat(backend.operations().watchCount()).isZero();
        LockClaim next = queued(holder);
        next(WatchSignal.Armed.class);

        Store.answer(backend.release(holder));
        next(WatchSignal.Granted.class);
        assertThat(Store.answer(backend.renew(next))).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void strangersMessagesAreIgnored() throws InterruptedException {
        LockClaim holder = holder();
        queued(holder);
        next(WatchSignal.Armed.class);
        String channel = store.redis().pubsubChannels().get(0);
        assertThat(channel).startsWith("holdfast:client:");
        for (String text : new String[] {"", "G", "G 1 2 3 4 5", "C x", "C", "B", "L x", "H 1 x"}) {
            assertThat(store.redis().publish(channel, text)).isEqualTo(1);
        }
        Store.answer(backend.release(holder));
        next(WatchSignal.Granted.class);
    }

    @Test
    void clientWithManyWatchesHasOneSubscription() throws InterruptedException {
        LockClaim holder = holder();
        for (int i = 0; i < 50; i++) {
            queued(holder);
        }
        next(WatchSignal.Armed.class);
        assertThat(store.redis().pubsubChannels()).hasSize(1);
        assertThat(backend.operations().watchCount()).isEqualTo(50);
        assertThat(store.clients()).as("those of the client and of the test").isEqualTo(2);
    }

    private LockClaim holder() {
        LockClaim holder = Store.claim("orders");
        assertThat(Store.answer(backend.tryAcquire(holder))).isInstanceOf(LockAttempt.Acquired.class);
        return holder;
    }

    @CanIgnoreReturnValue
    private LockClaim queued(LockClaim behind) {
        LockClaim waiter = Store.claim(behind.key().name(), Waiting.QUEUE);
        Disposable watch = backend.watch(waiter).subscribe(signals::add);
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(watch.isDisposed()).isFalse();
        return waiter;
    }

    /** Awaits the next signal of that kind, and drops others before it. */
    private void next(Class<? extends WatchSignal> kind) throws InterruptedException {
        WatchSignal signal;
        do {
            signal = signals.poll(10, TimeUnit.SECONDS);
            assertThat(signal).as("a signal within 10 s, wanted " + kind).isNotNull();
        } while (!kind.isInstance(signal));
    }
}
