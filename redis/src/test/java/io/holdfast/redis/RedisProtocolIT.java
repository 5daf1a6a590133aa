package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockReport;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** One connection carries scripts and messages, in each database; a server without RESP3 is refused. */
class RedisProtocolIT {

    private static final int SEATS = 500;

    @Test
    void commandsAndMessagesAreOnOneConnection() throws InterruptedException {
        try (Store store = Store.start()) {
            store.redis().configResetstat();
            handsOver(store.uri());
            assertThat(store.calls("hello")).as("one for each client").isEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-NOPROTO unsupported protocol version",
                "-ERR unknown command 'HELLO', with args beginning with:",
                "-ERR unknown command"
            })
    void aServerWithoutResp3IsAnErrorThatSaysWhatToDo(String answer) throws IOException {
        try (FakeServer old = FakeServer.answering(name -> name.equals("hello") ? answer : "+OK")) {
            isRefused(RedisURI.create("127.0.0.1", old.port()));
        }
    }

    @Test
    void aServerOfWhichTheCommandIsRenamedIsRefusedToo() {
        try (Store store = Store.start("--rename-command", "HELLO", "")) {
            isRefused(store.uri());
        }
    }

    @Test
    void anErrorDoesNotRepeatThePasswordThatTheServerRepeats() throws IOException {
        String answer = "-ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' 'secret-word' ";
        try (FakeServer old = FakeServer.answering(name -> name.equals("hello") ? answer : "+OK")) {
            LockBackendException failure = isRefused(RedisURI.builder()
                    .withHost("127.0.0.1")
                    .withPort(old.port())
                    .withPassword("secret-word".toCharArray())
                    .build());
            assertThat(Throwables.getStackTrace(failure)).doesNotContain("secret-word");
        }
    }

    @CanIgnoreReturnValue
    private static LockBackendException isRefused(RedisURI uri) {
        RedisLockBackend refused = RedisLockBackend.create(uri);
        LockBackendException failure = catchThrowableOfType(
                LockBackendException.class, () -> Store.answer(refused.tryAcquire(Store.claim("orders"))));
        assertThat(failure)
                .hasMessageContaining("'orders'")
                .hasMessageContaining("does not speak RESP3")
                .hasMessageContaining("upgrade the server, or connect without the proxy");
        assertThat(failure.isTransient()).isFalse();
        Store.end(refused);
        return failure;
    }

    /**
     * The server closes the connection of a subscriber when more output than its limit, 32 MB by default, waits there.
     * The limit here is a hundredth of that.
     */
    @Test
    void theLargestAnswersAreFarBelowTheLimitForSubscribers() {
        try (Store store = Store.start("--client-output-buffer-limit", "pubsub", "320kb", "0", "0")) {
            long before = connections(store);
            RedisLockBackend backend = store.backend();
            LockClient client = LockClient.builder(backend).build();
            ReactiveLock seat = client.semaphore("seats", SEATS);
            List<LockLease> held = await(
                    Flux.range(0, SEATS).flatMap(i -> seat.acquire(), SEATS).collectList());
            CompletableFuture<List<LockLease>> waiters = Flux.range(0, SEATS)
                    .flatMap(i -> seat.acquire(), SEATS)
                    .collectList()
                    .toFuture();
            String key = Store.holderKey(new LockKey(LockKind.SEMAPHORE, "seats", SEATS));
            eventually(() -> Store.waiting(store.redis(), key) == SEATS);

            assertThat(await(backend.holders(new LockKey(LockKind.SEMAPHORE, "seats", SEATS))
                            .collectList()))
                    .hasSize(LockReport.MOST_HOLDERS);
            await(Flux.fromIterable(held).flatMap(LockLease::renew, SEATS).then());
            await(Flux.fromIterable(held).flatMap(LockLease::release, SEATS).then());

            assertThat(waiters).succeedsWithin(Duration.ofSeconds(20));
            await(Flux.fromIterable(waiters.join())
                    .flatMap(LockLease::release, SEATS)
                    .then());
            assertThat(connections(store)).isEqualTo(before + 1);
            await(client.close());
        }
    }

    private static long connections(Store store) {
        return Long.parseLong(
                store.redis().info("stats").replaceFirst("(?s).*total_connections_received:(\\d+).*", "$1"));
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
