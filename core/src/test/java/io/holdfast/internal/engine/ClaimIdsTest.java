package io.holdfast.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.engine.Randomness.Seed;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClaimIdsTest {

    @Test
    void anIdIs128BitsInHexadecimal() {
        ClaimIds ids = new ClaimIds(Randomness.readSeed(), "");

        for (int i = 0; i < 1_000; i++) {
            assertThat(ids.next()).matches("[0-9a-f]{32}");
        }
    }

    @Test
    void theLabelFollowsTheDigits() {
        ClaimIds ids = new ClaimIds(Randomness.readSeed(), "orders:host-7:4711");

        assertThat(ids.next()).matches("[0-9a-f]{32}@orders:host-7:4711");
    }

    @Test
    void aClientNeverRepeatsAnId() {
        ClaimIds ids = new ClaimIds(Randomness.readSeed(), "");
        int many = 1_000_000;
        Set<String> seen = new HashSet<>(2 * many);

        for (int i = 0; i < many; i++) {
            assertThat(seen.add(ids.next())).isTrue();
        }
    }

    @Test
    void twoClientsNeverMakeTheSameId() {
        Set<String> seen = new HashSet<>();

        for (int client = 0; client < 1_000; client++) {
            ClaimIds ids = new ClaimIds(Randomness.readSeed(), "");
            for (int i = 0; i < 100; i++) {
                assertThat(seen.add(ids.next())).isTrue();
            }
        }
    }

    /** A snapshot of a process is restored twice: both processes have the same seed and the same count. */
    @Test
    void clonesOfOneClientNeverMakeTheSameId() {
        Seed remembered = Randomness.readSeed();
        ClaimIds one = new Randomness(remembered, () -> 0, true).ids("");
        ClaimIds other = new Randomness(remembered, () -> 0, true).ids("");
        Set<String> seen = new HashSet<>();

        for (int i = 0; i < 100_000; i++) {
            assertThat(seen.add(one.next())).isTrue();
            assertThat(seen.add(other.next())).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1_000, 86_400_000, -1})
    void aSeedIsNotUsedAfterASecondNorAfterTheClockWasSetBack(long jumpMillis) {
        AtomicLong wallClock = new AtomicLong(1_000_000);
        AtomicInteger reads = new AtomicInteger();
        ClaimIds ids = new ClaimIds(
                Randomness.readSeed(),
                "",
                () -> {
                    reads.incrementAndGet();
                    return Randomness.readSeed();
                },
                wallClock::get,
                () -> 7);
        assertThat(ids.next()).isNotEmpty();
        wallClock.addAndGet(999);
        assertThat(ids.next()).isNotEmpty();
        assertThat(reads).hasValue(0);
        wallClock.addAndGet(jumpMillis < 0 ? -1_000 : jumpMillis);

        assertThat(ids.next()).isNotEmpty();
        assertThat(ids.next()).isNotEmpty();

        assertThat(reads).hasValue(1);
    }

    @Test
    void aGivenSeedGivesTheSameIdsAgain() {
        Seed seed = new Seed(1, 2, 3);
        ClaimIds first = new Randomness(seed, () -> 0).ids("orders:host-7:1");
        ClaimIds again = new Randomness(seed, () -> 0).ids("orders:host-7:1");

        for (int i = 0; i < 1_000; i++) {
            assertThat(first.next()).isEqualTo(again.next());
        }
    }

    @Test
    void bothHalvesChangeFromIdToId() {
        ClaimIds ids = new ClaimIds(Randomness.readSeed(), "");
        String before = ids.next();

        for (int i = 0; i < 1_000; i++) {
            String next = ids.next();
            assertThat(next.substring(0, 16)).isNotEqualTo(before.substring(0, 16));
            assertThat(next.substring(16)).isNotEqualTo(before.substring(16));
            before = next;
        }
    }
}
