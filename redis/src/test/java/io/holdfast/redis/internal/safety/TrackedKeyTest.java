package io.holdfast.redis.internal.safety;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TrackedKeyTest {

    private static final long LEASE = 1000;

    /** Near the end of the clock's range, where it wraps. */
    private static final long NOW = Long.parseLong("9223372036854775797");

    @Test
    void anUntouchedKeyIsWatchedAgainWithEachRenewal() {
        assertThat(TrackedKey.of("claim", 1, LEASE, NOW).isDue(NOW + 1)).isTrue();
    }

    /** The first waiter sets a flag in the record. That must not leave the key unwatched until the next renewal. */
    @Test
    void aKeyIsWatchedAgainAtOnceAfterItsFirstChangeAndThenAfterAPause() {
        TrackedKey held = TrackedKey.of("claim", 1, LEASE, NOW);
        assertThat(held.isReminderDue(NOW + 1)).isTrue();
        TrackedKey again = held.reminded(NOW + 1);
        assertThat(again.isDue(NOW + 2)).as("with a renewal").isTrue();
        assertThat(again.isReminderDue(NOW + LEASE / 10)).isFalse();
        assertThat(again.isReminderDue(NOW + 1 + LEASE / 10)).isTrue();
    }

    @Test
    void aTouchedKeyIsWatchedAgainTenTimesInALeaseAtMost() {
        TrackedKey touched = TrackedKey.of("claim", 1, LEASE, NOW).reminded(NOW).touched();
        assertThat(touched.isDue(NOW + LEASE / 10 - 1)).isFalse();
        assertThat(touched.isDue(NOW + LEASE / 10)).isTrue();
        assertThat(touched.claimId()).isEqualTo("claim");
    }
}
