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
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

/** The server's memory, before, during and after. */
class RedisStoreIT {

    private static final String NAME = "orders";
    private static final String HOLDER = Store.holderKey(NAME);
    private static final long LIFE_MILLIS = Duration.ofHours(2).toMillis();

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
        String flushed = store.redis().flushall();
        assertThat(flushed).isEqualTo("OK");
        backend = store.backend();
    }

    @AfterEach
    void stop() {
        Store.end(backend);
    }

    @Test
    void uncontendedCycleLeavesOnlyTheExpiringRecord() {
        LockClaim claim = Store.claim(NAME);
        acquired(claim);
        assertThat(store.keys()).containsExactly(HOLDER);
        Store.answer(backend.release(claim));
        assertThat(store.keys()).containsExactly(HOLDER);
        assertThat(store.redis().get(HOLDER)).isEqualTo("1F0" + store.token(HOLDER));
    }

    @Test
    void queueThatWasServedLeavesOnlyTheExpiringRecord() {
        LockClaim holder = Store.claim(NAME);
        LockClaim waiter = Store.claim(NAME, Waiting.QUEUE);
        acquired(holder);
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        Store.answer(backend.release(holder));
        acquired(waiter.withAttempt(2));
        Store.answer(backend.release(waiter.withAttempt(2)));
        assertThat(store.keys()).containsExactly(HOLDER);
        assertThat(store.redis().get(HOLDER)).isEqualTo("1F0" + store.token(HOLDER));
    }

    @Test
    void everyKeyExpires() {
        acquired(Store.claim(NAME));
        Store.answer(backend.tryAcquire(Store.claim(NAME, Waiting.QUEUE)));
        Store.answer(backend.release(Store.claim(NAME)));
        assertThat(store.keys())
                .hasSize(4)
                .allSatisfy(key -> assertThat(store.redis().pttl(key)).as(key).isPositive());
    }

    @Test
    void queueOutlivesItsLongestLease() {
        acquired(Store.claim(NAME));
        LockClaim waiter = Store.claim(NAME, Waiting.QUEUE);
        Store.answer(backend.tryAcquire(waiter));
        Store.answer(backend.tryAcquire(LockClaim.first(waiter.key(), "short", Duration.ofSeconds(1), Waiting.QUEUE)));
        assertThat(store.redis().pttl(HOLDER + ":queue")).isGreaterThan(25_000);
        assertThat(store.redis().pttl(HOLDER + ":claims")).isGreaterThan(25_000);
    }

    @Test
    void tokenIsTheServersTimeAndTheRecordExpiresTwoHoursAfterTheLease() {
        long token = acquired(Store.claim(NAME));
        long nowMicros = serverMicros();
        assertThat(token).isBetween(nowMicros - 10_000_000, nowMicros);
        assertThat(store.token(HOLDER)).isEqualTo(token);
        long life = LIFE_MILLIS + Store.LEASE.toMillis();
        assertThat(store.redis().pttl(HOLDER)).isBetween(life - 10_000, life);
    }

    @Test
    void recordWithATokenAheadOfTheClockOutlivesTheTimeInTheToken() {
        long hourAhead = serverMicros() + 3_600_000_000L;
        long token = acquired(Store.claim(NAME).withTokenFloor(hourAhead));
        assertThat(token).isEqualTo(hourAhead);
        assertThat(store.redis().pttl(HOLDER)).isBetween(LIFE_MILLIS + 3_590_000, LIFE_MILLIS + 3_600_000);
    }

    @Test
    void tokensKeepEveryDigitUpToTheHighestFloor() {
        long highest = (1L << 53) - (1L << 40) - 1;
        LockClaim claim = Store.claim(NAME).withTokenFloor(highest);
        assertThat(acquired(claim)).isEqualTo(highest);
        Store.answer(backend.release(claim));
        assertThat(acquired(Store.claim(NAME))).isEqualTo(highest + 1);
    }

    @Test
    void floorOutOfRangeIsRefusedBeforeItIsSent() {
        LockClaim claim = Store.claim(NAME).withTokenFloor((1L << 53) - (1L << 40));
        assertThatThrownBy(() -> Store.answer(backend.tryAcquire(claim)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'orders'")
                .hasMessageContaining(Long.toString(claim.tokenFloor()));
        assertThat(store.keys()).isEmpty();
    }

    @Test
    void answeredClaimsLeaveNoTombstone() {
        LockClaim claim = Store.claim(NAME, Waiting.QUEUE);
        acquired(claim);
        LockClaim waiter = Store.claim(NAME, Waiting.QUEUE);
        Store.answer(backend.tryAcquire(waiter));
        Store.answer(backend.release(waiter));
        Store.answer(backend.release(claim));
        assertThat(store.keys()).noneMatch(key -> key.contains(":gone"));
    }

    @Test
    void releaseAfterAnUnansweredAttemptLeavesATombstoneThatExpires() {
        LockClaim warmUp = Store.claim("warm-up");
        acquired(warmUp);
        LockClaim claim = Store.claim(NAME);
        // Cancelled in flight: this test does not know whether the server has seen it.
        store.server.pause();
        backend.tryAcquire(claim).subscribe().dispose();
        store.server.resume();
        Store.answer(backend.release(claim));
        assertThat(store.redis().zrange(HOLDER + ":gone", 0, -1)).containsExactly(claim.id());
        assertThat(store.redis().pttl(HOLDER + ":gone")).isBetween(1L, 30_000L);
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Contended.class);
        assertThat(store.isHeld(HOLDER)).isFalse();
        LockClaim other = Store.claim(NAME);
        acquired(other);
        Store.answer(backend.release(other));
        assertThat(Store.answer(backend.tryAcquire(claim)))
                .as("after others have had the lock")
                .isInstanceOf(LockAttempt.Contended.class);
    }

    /** Many withdrawn claims must not make the lock more expensive for others. */
    @Test
    void aTombstoneCostsOtherClaimsTwoCallsInsideTheServer() {
        LockClaim holder = Store.claim(NAME);
        acquired(holder);
        Store.answer(backend.release(Store.claim(NAME)));
        Store.answer(backend.release(holder));
        LockClaim next = Store.claim(NAME);
        store.redis().configResetstat();

        acquired(next);
        Store.answer(backend.release(next));

        long inside = Stream.of("get", "set", "time", "exists", "zscore", "hget", "zrem", "pexpire", "zrange")
                .mapToLong(store::calls)
                .sum();
        assertThat(inside).isEqualTo(8);
        assertThat(store.redis().get(HOLDER)).startsWith("1F2");
        store.redis().del(HOLDER + ":gone");
        acquired(holder.withAttempt(2));
        Store.answer(backend.release(holder.withAttempt(2)));
        LockClaim last = Store.claim(NAME);
        acquired(last);
        Store.answer(backend.release(last));
        assertThat(store.redis().get(HOLDER))
                .as("after the tombstone has expired")
                .startsWith("1F0");
    }

    /** The server remembers of an interested claim the number of its attempt; a later one may still be under way. */
    @Test
    void attemptUnderWayOfAClaimThatWantsAHintTakesNothingAfterItsRelease() {
        LockClaim holder = Store.claim(NAME);
        acquired(holder);
        LockClaim claim = Store.claim(NAME, Waiting.NOTIFY);
        Disposable watch = backend.watch(claim).subscribe();
        contended(claim);
        contended(claim.withAttempt(2));
        assertThat(store.keys()).contains(HOLDER + ":interest");
        Store.answer(backend.release(claim.withAttempt(3)));
        Store.answer(backend.release(holder));
        contended(claim.withAttempt(3));
        assertThat(store.isHeld(HOLDER)).isFalse();
        watch.dispose();
    }

    @Test
    void claimThatWantsAHintAndWasAnsweredLeavesNoTombstone() {
        acquired(Store.claim(NAME));
        LockClaim claim = Store.claim(NAME, Waiting.NOTIFY);
        Disposable watch = backend.watch(claim).subscribe();
        contended(claim);
        contended(claim.withAttempt(2));
        Store.answer(backend.release(claim.withAttempt(2)));
        assertThat(store.keys()).containsExactly(HOLDER);
        watch.dispose();
    }

    private void contended(LockClaim claim) {
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Contended.class);
    }

    @Test
    void foreignKeyIsNeverOverwrittenAndNamedInTheError() {
        store.redis().set(HOLDER, "theirs");
        assertForeign();
        assertThat(store.redis().get(HOLDER)).isEqualTo("theirs");
    }

    @Test
    void foreignHashIsNeverOverwritten() {
        store.redis().hset(HOLDER, Map.of("field", "theirs"));
        assertForeign();
        assertThat(store.redis().hgetall(HOLDER)).isEqualTo(Map.of("field", "theirs"));
    }

    private void assertForeign() {
        for (Waiting waiting : Waiting.values()) {
            LockClaim claim = Store.claim(NAME, waiting);
            assertThatThrownBy(() -> Store.answer(backend.tryAcquire(claim)))
                    .isInstanceOfSatisfying(LockBackendException.class, e -> {
                        assertThat(e.isTransient()).isFalse();
                        assertThat(e.lockName()).isEqualTo(NAME);
                        assertThat(e).hasMessageContaining(HOLDER).hasMessageContaining("holds a foreign value");
                    });
            assertThat(Store.answer(backend.renew(claim))).isEqualTo(new Renewal.NotHeld());
            assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.NOT_HELD);
        }
        assertThat(store.keys()).filteredOn(key -> !key.contains(":gone")).containsExactly(HOLDER);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1F0",
                "1F0123",
                "1F00x10000000000000",
                "1F01e5",
                "1F3000000000000000a",
                "1H0",
                "1H01",
                "1F01795347797385141 more"
            })
    void aValueThatOnlyResemblesARecordIsForeign(String value) {
        store.redis().set(HOLDER, value);
        assertForeign();
        assertThat(store.redis().get(HOLDER)).isEqualTo(value);
    }

    @Test
    void aLeaseOfThousandYearsIsOneOfAHundred() {
        LockClaim claim =
                LockClaim.first(LockKey.of(LockKind.MUTEX, NAME), "for ever", Duration.ofDays(365_000), Waiting.NONE);
        LockAttempt.Acquired acquired = (LockAttempt.Acquired) Store.answer(backend.tryAcquire(claim));
        assertThat(acquired.lease()).isEqualTo(Duration.ofDays(36_500));
        assertThat(Store.answer(backend.renew(claim))).isEqualTo(new Renewal.Held(Duration.ofDays(36_500)));
        contended(Store.claim(NAME));
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        acquired(Store.claim(NAME));
    }

    @Test
    void foreignKeyInABatchDoesNotFailTheOthers() {
        store.redis().set(Store.holderKey("b"), "theirs");
        LockClaim first = Store.claim("a");
        LockClaim last = Store.claim("c");
        acquired(first);
        acquired(last);
        List<Renewal> answers = Store.answer(
                backend.renewAll(List.of(first, Store.claim("b"), last)).collectList());
        assertThat(answers)
                .containsExactly(new Renewal.Held(Store.LEASE), new Renewal.NotHeld(), new Renewal.Held(Store.LEASE));
    }

    @Test
    void everyRenewalOfABatchHasItsOwnLease() {
        LockClaim first = Store.claim("a");
        LockClaim longer = LockClaim.first(LockKey.of(LockKind.MUTEX, "b"), "id", Duration.ofMinutes(5), Waiting.NONE);
        acquired(first);
        acquired(longer);
        Store.answer(backend.renewAll(List.of(first, longer)).collectList());
        assertThat(store.leaseLeft(Store.holderKey("a"))).isBetween(20_000L, 30_000L);
        assertThat(store.leaseLeft(Store.holderKey("b"))).isBetween(290_000L, 300_000L);
    }

    @Test
    void keysHaveTheChosenPrefix() {
        RedisLockBackend prefixed =
                RedisLockBackend.builder(store.uri()).keyPrefix("shop:locks:").build();
        Store.answer(prefixed.tryAcquire(Store.claim(NAME)));
        Store.end(prefixed);
        assertThat(store.keys()).allMatch(key -> key.startsWith("shop:locks:{orders}:mutex"));
    }

    @CanIgnoreReturnValue
    private long acquired(LockClaim claim) {
        LockAttempt answer = Store.answer(backend.tryAcquire(claim));
        assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
        return ((LockAttempt.Acquired) answer).fencingToken();
    }

    private static long serverMicros() {
        List<String> time = store.redis().time();
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }
}
