package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.ScoredValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;

/**
 * What the server keeps for claims of several permits: the number of permits beyond one for each, as the score of an
 * empty member.
 */
class RedisManyPermitsIT {

    private static final LockKey TEN = new LockKey(LockKind.SEMAPHORE, "pool", 10);
    private static final String RECORD = Store.holderKey(TEN);
    private static final String KEY = RECORD + ":held";

    private static Store store;
    private RedisLockBackend backend;

    @BeforeAll
    static void startServer() {
        store = Store.start();
    }

    @AfterAll
    static void stopServer() {
        store.close();
    }

    @BeforeEach
    void start() {
        assertThat(store.redis().flushall()).isEqualTo("OK");
        backend = store.backend();
    }

    @AfterEach
    void stop() {
        Store.end(backend);
    }

    private static LockClaim claim(int permits) {
        return Store.claim(TEN, Waiting.NONE).withPermits(permits);
    }

    @CanIgnoreReturnValue
    private LockClaim taken(LockClaim claim) {
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        return claim;
    }

    private void refused(LockClaim claim) {
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Contended.class);
    }

    private void release(LockClaim claim) {
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    /** The score; 0 if there is no such member. */
    private static long surplus() {
        Double score = store.redis().zscore(KEY, "");
        return score == null ? 0 : Math.negateExact(score.longValue());
    }

    @Test
    void theSurplusIsThereWhileAClaimHasTakenSeveral() {
        LockClaim one = taken(claim(1));
        assertThat(store.redis().zcard(KEY)).isOne();
        LockClaim four = taken(claim(4));
        assertThat(store.redis().zrangeWithScores(KEY, 0, 0)).containsExactly(ScoredValue.just(-3, ""));
        LockClaim two = taken(claim(2));
        assertThat(surplus()).isEqualTo(4);
        release(four);
        assertThat(surplus()).isEqualTo(1);
        release(two);
        assertThat(store.redis().zrange(KEY, 0, -1)).containsExactly(one.id());
        release(one);
        assertThat(store.keys()).containsExactly(RECORD);
    }

    @Test
    void aLockWithoutHoldersTakesTheSurplusInOneGo() {
        LockClaim all = taken(claim(10));
        assertThat(surplus()).isEqualTo(9);
        refused(claim(1));
        release(all);
        assertThat(store.keys()).containsExactly(RECORD);
    }

    @Test
    void aClaimOfOnePermitCostsWhatItDidAndOneOfSeveralALittleMore() {
        assertThat(callsInside(1)).as("acquire and release of one").isEqualTo(14);
        assertThat(callsInside(3)).as("acquire and release of three").isEqualTo(26);
    }

    private long callsInside(int permits) {
        LockClaim warmUp = taken(claim(permits));
        release(warmUp);
        store.redis().configResetstat();
        LockClaim claim = taken(claim(permits));
        release(claim);
        return Stream.of("exists", "time", "get", "set", "hget", "hmget", "hset", "hdel", "pexpire", "pttl", "zadd")
                        .mapToLong(store::calls)
                        .sum()
                + Stream.of("zrem", "zrange", "zcard", "zscore", "zrank", "del", "publish", "pubsub")
                        .mapToLong(store::calls)
                        .sum();
    }

    @Test
    void holdersThatExpireTakeTheirShareOfTheSurplusAlong() {
        taken(LockClaim.first(TEN, "brief", Duration.ofMillis(500), Waiting.NONE)
                .withPermits(5));
        taken(LockClaim.first(TEN, "brief too", Duration.ofMillis(500), Waiting.NONE));
        LockClaim lasting = taken(claim(3));
        assertThat(surplus()).isEqualTo(6);
        ClientOverRedis.pause(Duration.ofMillis(510));
        taken(claim(7));
        assertThat(surplus()).isEqualTo(8);
        refused(claim(1));
        assertThat(Store.answer(backend.renew(lasting.withPermits(1)))).isInstanceOf(Renewal.Held.class);
        assertThat(surplus()).isEqualTo(8);
    }

    /** One call ends 1 024 leases that are over. The claim that attempts again may be among the rest. */
    @Test
    void aLateAttemptAmongManyLeasesThatAreOverTakesItsPermitsOnce() {
        LockKey many = new LockKey(LockKind.SEMAPHORE, "pool", 4_000);
        LockClaim lasting = taken(Store.claim(many, Waiting.NONE));
        Duration lease = Duration.ofSeconds(2);
        assertThat(Flux.range(0, 1_100)
                        .flatMap(i -> backend.tryAcquire(LockClaim.first(many, "brief" + i, lease, Waiting.NONE)), 256)
                        .filter(LockAttempt.Acquired.class::isInstance)
                        .count()
                        .block())
                .isEqualTo(1_100);
        LockClaim two = taken(LockClaim.first(many, "two", lease.plusMillis(500), Waiting.NONE)
                .withPermits(2));
        ClientOverRedis.pause(lease.plusMillis(600));

        taken(LockClaim.first(many, "two", Duration.ofMinutes(1), Waiting.NONE)
                .withPermits(2)
                .withAttempt(2));

        assertThat(surplus()).isEqualTo(1);
        release(two.withAttempt(2));
        release(lasting);
        assertThat(store.keys()).containsExactly(RECORD);
    }

    @Test
    void aRepeatedAttemptKeepsWhatTheClaimHasTaken() {
        LockClaim four = taken(claim(4));
        taken(four.withAttempt(2));
        taken(four.withAttempt(3).withPermits(1)); // the engine never sends that
        assertThat(surplus()).isEqualTo(3);
        refused(claim(7));
        release(four.withAttempt(3));
        taken(claim(10));
    }

    @Test
    void oneReleaseServesSeveralWaiters() {
        LockClaim all = taken(claim(10));
        List<Disposable> watches = new ArrayList<>();
        List<LockClaim> waiters = new ArrayList<>();
        for (int permits : new int[] {3, 1, 6, 1}) {
            LockClaim waiter = Store.claim(TEN, Waiting.QUEUE).withPermits(permits);
            ConnectableFlux<WatchSignal> signals = backend.watch(waiter).replay();
            watches.add(signals.connect());
            assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
            // A waiter whose channel is not open yet is passed over.
            assertThat(Store.answer(signals.next())).isInstanceOf(WatchSignal.Armed.class);
            waiters.add(waiter);
        }
        release(all);
        assertThat(store.redis().zrange(KEY, 0, -1))
                .containsExactlyInAnyOrder(
                        "",
                        waiters.get(0).id(),
                        waiters.get(1).id(),
                        waiters.get(2).id());
        assertThat(surplus()).isEqualTo(7);
        assertThat(Store.answer(backend.renew(waiters.get(3)))).isEqualTo(new Renewal.NotHeld());
        watches.forEach(Disposable::dispose);
    }

    /** The empty member comes before the holders, and is not a lease that ends. */
    @Test
    void theNextAttemptOfAWaiterIsNotDueAtOnce() {
        taken(claim(5));
        for (int place = 1; place <= 3; place++) {
            LockAttempt answer = Store.answer(
                    backend.tryAcquire(Store.claim(TEN, Waiting.QUEUE).withPermits(6)));
            assertThat(((LockAttempt.Queued) answer).nextAttemptWithin()).isGreaterThan(Duration.ofMillis(500));
        }
        LockAttempt refusal = Store.answer(backend.tryAcquire(claim(6)));
        assertThat(((LockAttempt.Contended) refusal).nextAttemptWithin()).isGreaterThan(Duration.ofMillis(500));
    }

    @Test
    void anEmptyMemberWithoutAHolderIsForeign() {
        store.redis().zadd(KEY, -3, "");
        assertThatThrownBy(() -> Store.answer(backend.tryAcquire(claim(1))))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContainingAll(KEY, "holds a foreign value");
        assertThat(store.redis().zrangeWithScores(KEY, 0, -1)).containsExactly(ScoredValue.just(-3, ""));
    }

    @Test
    void theSurplusIsThatOfTheHoldersAfterAnyRequests() {
        Random random = new Random(1);
        List<LockClaim> held = new ArrayList<>();
        for (int step = 0; step < 600; step++) {
            if (random.nextInt(3) == 0 && !held.isEmpty()) {
                LockClaim one = held.remove(random.nextInt(held.size()));
                release(one);
            } else if (random.nextInt(3) == 0 && !held.isEmpty()) {
                LockClaim one = held.get(random.nextInt(held.size()));
                assertThat(Store.answer(backend.renew(one))).isInstanceOf(Renewal.Held.class);
            } else {
                LockClaim claim = claim(1 + random.nextInt(5));
                boolean fits = taken(held) + claim.permits() <= 10;
                assertThat(Store.answer(backend.tryAcquire(claim)) instanceof LockAttempt.Acquired)
                        .as("step %d", step)
                        .isEqualTo(fits);
                if (fits) {
                    held.add(claim);
                }
            }
            assertThat(surplus()).as("step %d", step).isEqualTo(taken(held) - held.size());
        }
    }

    private static int taken(List<LockClaim> held) {
        return held.stream().mapToInt(LockClaim::permits).sum();
    }
}
