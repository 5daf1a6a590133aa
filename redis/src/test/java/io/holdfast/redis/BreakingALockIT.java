package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockReport;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** The recipe in docs/operate/redis.md: an operator takes a lock away from a holder that works, but should not. */
class BreakingALockIT {

    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final Duration RENEWAL_PERIOD = LEASE.dividedBy(3);

    private static final Duration CLAIM_TIME = Duration.ofSeconds(2);

    /** With this lease duration, both are still less than a lease. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    @RegisterExtension
    final ClientOverRedis redis = new ClientOverRedis(options -> options.leaseDuration(LEASE));

    private static ReactiveLock lock(LockClient client, LockKind kind) {
        return WaitingProcess.lock(client, kind, "orders");
    }

    private static String holderKey(LockKind kind) {
        return Store.holderKey(LockKey.of(kind, "orders"));
    }

    @ParameterizedTest
    @EnumSource
    void brokenLockGoesToTheNextWaiterAndItsHolderLearnsOfIt(LockKind kind) {
        LockLease holder = await(lock(redis.client, kind).acquire());
        CompletableFuture<LossReason> loss = holder.onLoss().toFuture();
        CompletableFuture<LockLease> next = lock(redis.rival, kind == LockKind.READ ? LockKind.WRITE : kind)
                .acquire()
                .toFuture();
        eventually(() -> Store.waiting(redis.store.redis(), holderKey(kind)) == 1);

        long brokenAt = System.nanoTime();
        breakHoldOf(holder);

        LockLease heir = next.join();
        assertThat(Duration.ofNanos(System.nanoTime() - brokenAt))
                .as("served at once")
                .isLessThan(SLACK);
        assertThat(heir.fencingToken()).isGreaterThan(holder.fencingToken());
        assertThat(loss.join()).isEqualTo(LossReason.NOT_HELD);
        assertThat(Duration.ofNanos(System.nanoTime() - brokenAt)).isLessThan(RENEWAL_PERIOD.plus(SLACK));
        assertThatThrownBy(() -> await(holder.release())).isInstanceOf(LockLostException.class);
        assertThat(heir.isValid()).isTrue();
        await(heir.release());
    }

    @Test
    void oneReaderIsBrokenAndTheOthersKeepTheirShares() {
        LockLease broken = await(lock(redis.client, LockKind.READ).acquire());
        LockLease other = await(lock(redis.rival, LockKind.READ).acquire());

        breakHoldOf(broken);

        assertThat(broken.onLoss().toFuture().join()).isEqualTo(LossReason.NOT_HELD);
        assertThat(other.isValid()).isTrue();
        assertThat(inspected().holders()).extracting(LockHolder::fencingToken).containsExactly(other.fencingToken());
        await(other.release());
    }

    @Test
    void workUnderABrokenLockIsCancelled() {
        CompletableFuture<Boolean> isCancelled = new CompletableFuture<>();
        CompletableFuture<Object> result = redis.client
                .lock("orders")
                .withLock(Mono.never().doOnCancel(() -> isCancelled.complete(true)))
                .toFuture();
        eventually(() -> redis.store.isHeld(holderKey(LockKind.MUTEX)));

        redis.store.redis().del(holderKey(LockKind.MUTEX));

        assertThat(isCancelled.join()).isTrue();
        assertThatThrownBy(result::join).hasCauseInstanceOf(LockLostException.class);
    }

    /** An operator may do this with any client: it is not recommended, but it has to be safe. */
    @Test
    void aDeletedRecordIsALossAndTheNextTokenIsHigher() {
        LockLease holder = await(redis.client.lock("orders").acquire());
        CompletableFuture<LockLease> next = redis.rival.lock("orders").acquire().toFuture();
        eventually(() -> Store.waiting(redis.store.redis(), holderKey(LockKind.MUTEX)) == 1);

        long deletedAt = System.nanoTime();
        assertThat(redis.store.redis().del(holderKey(LockKind.MUTEX))).isOne();

        LockLease heir = next.join();
        assertThat(Duration.ofNanos(System.nanoTime() - deletedAt))
                .as("a claim time, on a busy machine")
                .isLessThan(CLAIM_TIME.plus(SLACK));
        assertThat(heir.fencingToken()).isGreaterThan(holder.fencingToken());
        assertThat(holder.onLoss().toFuture().join()).isEqualTo(LossReason.NOT_HELD);
        await(heir.release());
    }

    @Test
    void aHoldThatIsOverIsNotBroken() {
        LockLease over = await(redis.client.lock("orders").acquire());
        LockReport seen = inspected();
        await(over.release());
        LockLease next = await(redis.rival.lock("orders").acquire());

        assertThat(broken(seen, seen.holders().get(0))).isFalse();

        assertThat(await(next.renew().thenReturn(true))).isTrue();
        await(next.release());
    }

    private void breakHoldOf(LockLease lease) {
        LockReport seen = inspected();
        LockHolder its = seen.holders().stream()
                .filter(holder -> holder.fencingToken() == lease.fencingToken())
                .findAny()
                .orElseThrow();
        assertThat(broken(seen, its)).isTrue();
    }

    private boolean broken(LockReport seen, LockHolder holder) {
        RedisLockInspector inspector =
                RedisLockBackend.builder(redis.store.uri()).inspector();
        boolean isBroken = Store.answer(inspector.breakHold(seen.name(), holder));
        await(inspector.close());
        return isBroken;
    }

    private LockReport inspected() {
        RedisLockInspector inspector =
                RedisLockBackend.builder(redis.store.uri()).inspector();
        LockReport report = Store.answer(inspector.inspect("orders").single());
        await(inspector.close());
        return report;
    }
}
