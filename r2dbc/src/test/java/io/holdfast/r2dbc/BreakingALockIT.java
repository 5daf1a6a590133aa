package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockReport;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** An operator takes a lock away from a holder that works, but should not. */
class BreakingALockIT {

    private static final Duration LEASE = Duration.ofSeconds(6);
    private static final Duration RENEWAL_PERIOD = LEASE.dividedBy(3);

    /** The renewal period plus this is still less than a lease. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    private static Store store;
    private static R2dbcLockInspector inspector;

    private LockClient client;
    private LockClient rival;

    @BeforeAll
    static void start() {
        store = Store.start();
        inspector = R2dbcLockBackend.builder(store.connections()).inspector();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @BeforeEach
    void open() {
        LockOptions options = LockOptions.builder().leaseDuration(LEASE).build();
        client = LockClient.builder(R2dbcLockBackend.create(store.connections()))
                .options(options)
                .build();
        rival = LockClient.builder(R2dbcLockBackend.create(store.connections()))
                .options(options)
                .build();
    }

    @AfterEach
    void end() {
        run(client.close());
        run(rival.close());
        assertThat(store.leftovers()).isEmpty();
    }

    private static ReactiveLock lock(LockClient of, LockKind kind) {
        return switch (kind) {
            case MUTEX -> of.lock("orders");
            case READ -> of.readWriteLock("orders").readLock();
            case WRITE -> of.readWriteLock("orders").writeLock();
            case SEMAPHORE -> of.semaphore("orders", 1);
        };
    }

    @ParameterizedTest
    @EnumSource
    void brokenLockGoesToTheNextWaiterAndItsHolderLearnsOfIt(LockKind kind) {
        LockLease holder = run(lock(client, kind).acquire());
        CompletableFuture<LossReason> loss = holder.onLoss().toFuture();
        CompletableFuture<LockLease> next = lock(rival, kind == LockKind.READ ? LockKind.WRITE : kind)
                .acquire()
                .toFuture();
        while (store.texts("select 1 from holdfast_waiter").isEmpty()) {
            assertThat(next).isNotDone();
        }

        long brokenAt = System.nanoTime();
        breakHoldOf(holder);

        LockLease heir = next.join();
        assertThat(Duration.ofNanos(System.nanoTime() - brokenAt))
                .as("time until the next waiter got the lock")
                .isLessThan(SLACK);
        assertThat(heir.fencingToken()).isGreaterThan(holder.fencingToken());
        assertThat(loss.join()).isEqualTo(LossReason.NOT_HELD);
        assertThat(Duration.ofNanos(System.nanoTime() - brokenAt)).isLessThan(RENEWAL_PERIOD.plus(SLACK));
        assertThatThrownBy(() -> run(holder.release())).isInstanceOf(LockLostException.class);
        assertThat(heir.isValid()).isTrue();
        run(heir.release());
    }

    /** Otherwise the holder's next renewal would find its claim held, with the token of before. */
    @ParameterizedTest
    @EnumSource
    void attemptOfTheBrokenClaimThatArrivesLateTakesNothing(LockKind kind) {
        R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections());
        LockClaim claim =
                LockClaim.first(LockKey.of(kind, "orders"), UUID.randomUUID().toString(), LEASE, Waiting.NONE);
        assertThat(run(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(run(inspector.breakHold("orders", inspected().holders().get(0))))
                .isTrue();

        assertThat(run(backend.tryAcquire(claim.withAttempt(2)))).isInstanceOf(LockAttempt.Contended.class);
        assertThat(run(backend.renew(claim))).isEqualTo(new Renewal.NotHeld());
        run(backend.close());
    }

    /** It would learn of the grant by its next attempt only. */
    @Test
    void brokenLockIsNotGrantedToAWaiterThatCannotBeNotified() {
        R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections());
        LockClaim waiter = LockClaim.first(
                LockKey.of(LockKind.MUTEX, "orders"), UUID.randomUUID().toString(), LEASE, Waiting.QUEUE);
        LockLease holder = run(lock(client, LockKind.MUTEX).acquire());
        run(backend.tryAcquire(waiter));
        breakHoldOf(holder);
        assertThat(backend.holders(waiter.key()).collectList().block()).isEmpty();
        run(backend.release(waiter.withAttempt(2)));
        run(backend.close());
    }

    @Test
    void oneReaderIsBrokenAndTheOthersKeepTheirShares() {
        LockLease broken = run(lock(client, LockKind.READ).acquire());
        LockLease other = run(lock(rival, LockKind.READ).acquire());

        breakHoldOf(broken);

        assertThat(broken.onLoss().toFuture().join()).isEqualTo(LossReason.NOT_HELD);
        assertThat(other.isValid()).isTrue();
        assertThat(inspected().holders()).extracting(LockHolder::fencingToken).containsExactly(other.fencingToken());
        run(other.release());
    }

    @Test
    void aHoldThatIsOverIsNotBroken() {
        LockLease over = run(client.lock("orders").acquire());
        LockReport seen = inspected();
        run(over.release());
        LockLease next = run(rival.lock("orders").acquire());

        assertThat(run(inspector.breakHold(seen.name(), seen.holders().get(0)))).isFalse();

        run(next.renew());
        assertThat(next.isValid()).isTrue();
        run(next.release());
    }

    /** The fence refuses before the next renewal reports the loss. */
    @Test
    void theFenceRefusesABrokenHolderAtOnce() {
        LockLease broken = run(client.lock("orders").acquire());
        Connection data = store.connect();
        run(data.beginTransaction());

        breakHoldOf(broken);

        assertThat(broken.isValid()).isTrue();
        assertThatThrownBy(() -> run(Fence.check(data, broken))).isInstanceOf(LockLostException.class);
        run(data.close());
        assertThatThrownBy(() -> run(broken.release())).isInstanceOf(LockLostException.class);
    }

    /** The transaction has passed its check, so its writes come before all writes of the next holder. */
    @Test
    void aFencedTransactionKeepsTheNextHolderWaitingAfterTheBreak() {
        LockLease broken = run(client.lock("orders").acquire());
        Connection data = store.connect();
        run(data.beginTransaction());
        run(Fence.check(data, broken));

        breakHoldOf(broken);

        assertThat(run(rival.lock("orders").tryAcquire())).isNull();
        run(data.commitTransaction());
        run(run(rival.lock("orders").acquire()).release());
        run(data.close());
        assertThatThrownBy(() -> run(broken.release())).isInstanceOf(LockLostException.class);
    }

    private static void breakHoldOf(LockLease lease) {
        LockReport seen = inspected();
        LockHolder its = seen.holders().stream()
                .filter(holder -> holder.fencingToken() == lease.fencingToken())
                .findAny()
                .orElseThrow();
        assertThat(run(inspector.breakHold(seen.name(), its))).isTrue();
    }

    private static LockReport inspected() {
        return run(inspector.inspect("orders").filter(LockReport::isHeld).single());
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
