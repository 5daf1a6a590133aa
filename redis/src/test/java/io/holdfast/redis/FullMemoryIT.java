package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A server without memory refuses new locks. Held locks are renewed, and every release frees its lock. */
class FullMemoryIT {

    private Store store;
    private RedisLockBackend backend;

    @BeforeEach
    void start() {
        store = Store.start();
        backend = store.backend();
    }

    @AfterEach
    void stop() {
        memory("0");
        Store.end(backend);
        store.close();
    }

    @ParameterizedTest
    @EnumSource(LockKind.class)
    void releaseWhoseAttemptWasUnansweredFreesTheLock(LockKind kind) {
        LockClaim claim = claim(kind, Waiting.QUEUE);
        loseAnswerOf(claim);
        memory("1");

        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);

        assertThat(store.isHeld(holderKey(kind))).isFalse();
    }

    @ParameterizedTest
    @EnumSource(LockKind.class)
    void releaseServesTheWaiter(LockKind kind) {
        LockClaim claim = claim(exclusive(kind), Waiting.QUEUE);
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        releaseServes(kind, claim);
    }

    @ParameterizedTest
    @EnumSource(LockKind.class)
    void releaseWhoseAttemptWasUnansweredServesTheWaiter(LockKind kind) {
        LockClaim claim = claim(exclusive(kind), Waiting.QUEUE);
        loseAnswerOf(claim);
        releaseServes(kind, claim);
    }

    private void releaseServes(LockKind kind, LockClaim claim) {
        LockClaim waiter = claim(kind, Waiting.QUEUE);
        Disposable watch = backend.watch(waiter).subscribe();
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        memory("1");

        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);

        assertThat(Store.answer(backend.renew(waiter))).isInstanceOf(Renewal.Held.class);
        watch.dispose();
    }

    /** The attempt may still be under way. */
    @ParameterizedTest
    @EnumSource(LockKind.class)
    void withdrawalOfAClaimThatIsNotThereIsCarriedOut(LockKind kind) {
        LockClaim claim = claim(kind, Waiting.NONE);
        memory("1");

        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.NOT_HELD);
        memory("0");
        assertThat(Store.answer(backend.tryAcquire(claim)))
                .as("an attempt that comes after its withdrawal")
                .isInstanceOf(LockAttempt.Contended.class);
    }

    @ParameterizedTest
    @EnumSource(LockKind.class)
    void waiterGivesUpItsPlace(LockKind kind) {
        LockClaim holder = claim(exclusive(kind), Waiting.NONE);
        LockClaim waiter = claim(kind, Waiting.QUEUE);
        Store.answer(backend.tryAcquire(holder));
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        memory("1");

        assertThat(Store.answer(backend.release(waiter))).isEqualTo(Ownership.NOT_HELD);

        assertThat(Store.waiting(store.redis(), holderKey(kind))).isZero();
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
    }

    @ParameterizedTest
    @EnumSource(LockKind.class)
    void aHeldLockIsRenewedAndAttemptedAgain(LockKind kind) {
        LockClaim claim = claim(kind, Waiting.NONE);
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        memory("1");

        assertThat(Store.answer(backend.renew(claim))).isInstanceOf(Renewal.Held.class);
        assertThat(Store.answer(backend.tryAcquire(claim.withAttempt(2)))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(backend.release(claim.withAttempt(2)))).isEqualTo(Ownership.HELD);
    }

    @ParameterizedTest
    @EnumSource(LockKind.class)
    void aFreeLockIsNotTakenByALaterAttemptEither(LockKind kind) {
        LockClaim before = claim(kind, Waiting.NONE);
        Store.answer(backend.tryAcquire(before));
        Store.answer(backend.release(before));
        memory("1");

        LockClaim claim = claim(kind, Waiting.NONE).withAttempt(2);
        assertThatThrownBy(() -> Store.answer(backend.tryAcquire(claim)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("memory is full");
    }

    /** The release sets the waiters of a dead client aside. */
    @ParameterizedTest
    @EnumSource(LockKind.class)
    void releasePassesDeadWaiters(LockKind kind) {
        LockClaim holder = claim(exclusive(kind), Waiting.NONE);
        Store.answer(backend.tryAcquire(holder));
        for (int i = 0; i < 5; i++) {
            assertThat(Store.answer(backend.tryAcquire(claim(kind, Waiting.QUEUE))))
                    .isInstanceOf(LockAttempt.Queued.class);
        }
        long end = Long.parseLong(store.redis().time().get(0)) + 2; // no waiter has just sent an attempt
        eventually(() -> Long.parseLong(store.redis().time().get(0)) >= end);
        memory("1");

        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);

        assertThat(store.isHeld(holderKey(kind))).isFalse();
        assertThat(Store.waiting(store.redis(), holderKey(kind))).isZero();
    }

    /** The server has answered, so no attempt of the claim can come later. */
    @ParameterizedTest
    @EnumSource(LockKind.class)
    void aWaiterThatWasRefusedForAWhileLeavesNoTombstone(LockKind kind) {
        Store.answer(backend.tryAcquire(claim(exclusive(kind), Waiting.NONE)));
        LockClient client = LockClient.create(store.backend());
        memory("1");
        long before = store.calls("evalsha");
        CompletableFuture<LockLease> waiter = lock(client, kind).acquire().toFuture();
        eventually(() -> store.calls("evalsha") >= before + 2);
        memory("0");
        eventually(() -> Store.waiting(store.redis(), holderKey(kind)) == 1);

        assertThat(waiter.cancel(false)).isTrue();

        eventually(() -> Store.waiting(store.redis(), holderKey(kind)) == 0);
        assertThat(store.keys()).doesNotContain(holderKey(kind) + ":gone");
        ClientOverRedis.await(client.close());
    }

    private static ReactiveLock lock(LockClient client, LockKind kind) {
        return switch (kind) {
            case MUTEX -> client.lock("orders");
            case READ -> client.readWriteLock("orders").readLock();
            case WRITE -> client.readWriteLock("orders").writeLock();
            case SEMAPHORE -> client.semaphore("orders", 1);
        };
    }

    /** Pauses the server, so it reads the attempt when no caller waits for its answer any more. */
    private void loseAnswerOf(LockClaim claim) {
        LockClaim other = Store.claim(LockKey.of(claim.key().kind(), "warm-up"), Waiting.NONE);
        Store.answer(backend.tryAcquire(other));
        Store.answer(backend.release(other));
        store.server.pause();
        Store.answer(backend.tryAcquire(claim)
                .timeout(Duration.ofMillis(200), Mono.empty())
                .then());
        store.server.resume();
        eventually(() -> store.isHeld(Store.holderKey(claim.key())));
    }

    /** Returns the kind of the holder: a reader waits for a writer, and every other kind for its own kind. */
    private static LockKind exclusive(LockKind kind) {
        return kind == LockKind.READ ? LockKind.WRITE : kind;
    }

    private static LockClaim claim(LockKind kind, Waiting waiting) {
        return Store.claim(LockKey.of(kind, "orders"), waiting);
    }

    private static String holderKey(LockKind kind) {
        return Store.holderKey(LockKey.of(kind, "orders"));
    }

    private void memory(String bytes) {
        assertThat(store.redis().configSet("maxmemory", bytes)).isEqualTo("OK");
    }
}
