package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How long the server keeps the last token of a free lock. */
class TokensKeptIT {

    private static final long AHEAD_MICROS = 10_000_000;

    /** Seconds; the test needs two commands to read one time. */
    private static final long ROUNDING = 3;

    private static Store store;

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @ParameterizedTest
    @EnumSource
    void lastTokenIsKeptForTheChosenTime(LockKind kind) {
        assertKept(RedisLockBackend.builder(store.uri()).keepTokens(Duration.ofMinutes(10)), kind, 600);
    }

    @ParameterizedTest
    @EnumSource
    void lastTokenIsKeptForTwoHoursByDefault(LockKind kind) {
        assertKept(RedisLockBackend.builder(store.uri()), kind, 7_200);
    }

    @Test
    void partsOfASecondAreRoundedUp() {
        assertKept(RedisLockBackend.builder(store.uri()).keepTokens(Duration.ofMillis(100_001)), LockKind.MUTEX, 101);
    }

    /** A floor makes the token run ahead, as a clock does that is set back afterwards. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void tokenThatTheClockHasNotReachedIsKeptAndRises(LockKind kind) {
        RedisLockBackend backend = RedisLockBackend.builder(store.uri())
                .keepTokens(Duration.ofMinutes(1))
                .build();
        LockKey key = LockKey.of(kind, "ahead/" + kind);
        LockClaim first = Store.claim(key, Waiting.NONE).withTokenFloor(store.micros() + AHEAD_MICROS);
        long token = acquired(backend, first);
        assertThat(Store.answer(backend.release(first))).isEqualTo(Ownership.HELD);
        LockClaim second = Store.claim(key, Waiting.NONE);
        assertThat(acquired(backend, second)).isEqualTo(token + 1);
        assertThat(Store.answer(backend.release(second))).isEqualTo(Ownership.HELD);

        // As after the time: the record is gone, and the clock alone makes the token.
        assertThat(store.redis().del(Store.counterKey(key))).isEqualTo(1);
        LockClaim third = Store.claim(key, Waiting.NONE);
        assertThat(acquired(backend, third)).isBetween(token - AHEAD_MICROS, token - 1);
        Store.end(backend);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT-1S", "PT0S", "PT59.999S", "P366D"})
    void timeOutOfRangeIsRefused(Duration time) {
        assertThatThrownBy(() -> RedisLockBackend.builder(store.uri()).keepTokens(time))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("keepTokens must be from 1 minute to 365 days, was " + time);
    }

    private static void assertKept(RedisLockBackend.Builder builder, LockKind kind, long seconds) {
        RedisLockBackend backend = builder.build();
        LockKey key = LockKey.of(kind, kind + "/" + seconds);
        LockClaim claim = Store.claim(key, Waiting.NONE);
        long token = acquired(backend, claim);
        // The record of a claim that holds alone outlives its lease.
        Duration lease = kind == LockKind.MUTEX || kind == LockKind.WRITE ? claim.lease() : Duration.ZERO;
        long before = expiry(key);
        assertThat(before)
                .isBetween(endSeconds(token, lease, seconds) - ROUNDING, endSeconds(token, lease, seconds) + ROUNDING);
        assertThat(Store.answer(backend.renew(claim))).isInstanceOf(Renewal.Held.class);
        assertThat(expiry(key)).isBetween(before - ROUNDING, before + 30);
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        assertThat(expiry(key)).isBetween(before - ROUNDING, before + 30);
        Store.end(backend);
    }

    private static long endSeconds(long token, Duration lease, long seconds) {
        return token / 1_000_000 + lease.toSeconds() + seconds;
    }

    /** Returns when the key of the last token expires, in seconds of the server's clock. */
    private static long expiry(LockKey key) {
        return (store.micros() / 1_000 + store.redis().pttl(Store.counterKey(key))) / 1_000;
    }

    private static long acquired(RedisLockBackend backend, LockClaim claim) {
        return ((LockAttempt.Acquired) Store.answer(backend.tryAcquire(claim))).fencingToken();
    }
}
