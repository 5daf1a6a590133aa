package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockQueueFullException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;

/** A limit for the waiters of one lock, counted by the server. */
class QueueLimitIT {

    private Store store;
    private RedisLockBackend backend;
    private final List<Disposable> watches = new ArrayList<>();

    @BeforeEach
    void start() {
        store = Store.start();
        backend = limited();
    }

    private RedisLockBackend limited() {
        return RedisLockBackend.builder(store.uri()).maxWaiters(3).build();
    }

    @AfterEach
    void stop() {
        watches.forEach(Disposable::dispose);
        Store.end(backend);
        store.close();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void oneWaiterTooManyIsRefusedAndLeavesNothing(LockKind kind) {
        LockClaim holder = held(kind);
        List<LockClaim> waiters = queued(backend, holder.key(), 3);
        List<String> before = store.keys();
        LockClaim oneMore = Store.claim(holder.key(), Waiting.QUEUE);

        LockQueueFullException full =
                catchThrowableOfType(LockQueueFullException.class, () -> Store.answer(backend.tryAcquire(oneMore)));

        assertThat(full.limit()).isEqualTo(3);
        assertThat(full.lockName()).isEqualTo("orders");
        assertThat(full)
                .hasMessageContaining("on Redis at " + store.server.host())
                .hasMessageContaining("maxWaiters of the RedisLockBackend is 3");
        String key = Store.holderKey(holder.key());
        assertThat(store.keys()).containsExactlyInAnyOrderElementsOf(before);
        assertThat(store.redis().hexists(Store.entries(key), oneMore.id())).isFalse();
        assertThat(store.redis().zscore(key + ":queue", oneMore.id())).isNull();
        assertThat(Store.answer(backend.tryAcquire(waiters.get(2).withAttempt(2))))
                .as("a waiter that has its place")
                .isInstanceOf(LockAttempt.Queued.class);
        assertThat(Store.answer(backend.tryAcquire(Store.claim(holder.key(), Waiting.NONE))))
                .as("an attempt that does not wait")
                .isInstanceOf(LockAttempt.Contended.class);
        Store.answer(backend.release(waiters.get(0)));
        assertThat(Store.answer(backend.tryAcquire(oneMore.withAttempt(2)))).isInstanceOf(LockAttempt.Queued.class);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void deadWaitersDoNotCountThoughTheHolderGoesOn(LockKind kind) {
        LockClaim holder = held(kind);
        RedisLockBackend dying = limited();
        queued(dying, holder.key(), 3);
        Store.end(dying);
        eventually(() -> store.redis().pubsubChannels().size() == 1);

        queued(backend, holder.key(), 3);

        assertThatThrownBy(() -> Store.answer(backend.tryAcquire(Store.claim(holder.key(), Waiting.QUEUE))))
                .isInstanceOf(LockQueueFullException.class);
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
    }

    /** The clock of the server chooses which ones. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void oneRefusalInEightLooksForDeadWaiters(LockKind kind) {
        LockClaim holder = held(kind);
        queued(backend, holder.key(), 3);
        assertThat(store.redis().configResetstat()).isEqualTo("OK");

        refuse(holder.key(), 800);

        assertThat(store.calls("hrandfield")).isBetween(50L, 200L);
    }

    /** Refusals drop what is known of runs that ended long ago. */
    @Test
    void theEndOfALongRunIsKnownWhenItsClientRepeatsIt() {
        LockClaim holder = held(LockKind.MUTEX);
        String key = Store.holderKey(holder.key());
        LockClaim member = null;
        for (int i = 0; i < 2; i++) {
            member = Store.claim(holder.key(), Waiting.QUEUE).withClient("client");
            watches.add(backend.watch(member).subscribe());
            assertThat(Store.answer(backend.tryAcquire(member))).isInstanceOf(LockAttempt.Queued.class);
        }
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        long anHourAgo = store.token(key) - 3_600_000_000L;
        String record = store.redis().get(key);
        assertThat(store.redis().set(key, record.substring(0, 19) + anHourAgo + record.substring(35)))
                .isEqualTo("OK");
        long number = anHourAgo - 1;
        assertThat(Store.answer(backend.endRun(member, number, 2)).ownership()).isEqualTo(Ownership.HELD);

        held(LockKind.MUTEX);
        queued(backend, holder.key(), 3);
        refuse(holder.key(), 100);

        assertThat(Store.answer(backend.endRun(member, number, 2)).ownership()).isEqualTo(Ownership.HELD);
    }

    @Test
    void readersAreCountedWithTheWritersTheyWaitWith() {
        LockClaim holder = held(LockKind.WRITE);
        queued(backend, holder.key(), 2);
        queued(backend, LockKey.of(LockKind.READ, "orders"), 1);

        assertThatThrownBy(() -> Store.answer(
                        backend.tryAcquire(Store.claim(LockKey.of(LockKind.READ, "orders"), Waiting.QUEUE))))
                .isInstanceOf(LockQueueFullException.class);
    }

    @Test
    void aClientGetsTheErrorOfTheFullQueue() {
        LockClaim holder = held(LockKind.MUTEX);
        queued(backend, holder.key(), 3);
        LockClient client = LockClient.create(limited());

        assertThatThrownBy(() -> Store.answer(client.lock("orders").acquire()))
                .isInstanceOf(LockQueueFullException.class);

        assertThat(client.close().toFuture()).succeedsWithin(Duration.ofSeconds(10));
        assertThat(Store.waiting(store.redis(), Store.holderKey("orders"))).isEqualTo(3);
    }

    private void refuse(LockKey key, int count) {
        for (int i = 0; i < count; i++) {
            LockClaim oneMore = Store.claim(key, Waiting.QUEUE);
            assertThatThrownBy(() -> Store.answer(backend.tryAcquire(oneMore)))
                    .isInstanceOf(LockQueueFullException.class);
        }
    }

    @CanIgnoreReturnValue
    private LockClaim held(LockKind kind) {
        LockClaim holder = Store.claim(LockKey.of(kind, "orders"), Waiting.NONE);
        assertThat(Store.answer(backend.tryAcquire(holder))).isInstanceOf(LockAttempt.Acquired.class);
        return holder;
    }

    @CanIgnoreReturnValue
    private List<LockClaim> queued(RedisLockBackend by, LockKey key, int count) {
        List<LockClaim> claims = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            LockClaim claim = Store.claim(key, Waiting.QUEUE);
            watches.add(by.watch(claim).subscribe(signal -> {}, error -> {}));
            eventually(() -> isQueued(by, claim)); // a dead waiter is detected when it has sent no attempt for a second
            claims.add(claim);
        }
        return claims;
    }

    private static boolean isQueued(RedisLockBackend by, LockClaim claim) {
        try {
            return Store.answer(by.tryAcquire(claim)) instanceof LockAttempt.Queued;
        } catch (LockQueueFullException full) {
            return false;
        }
    }
}
