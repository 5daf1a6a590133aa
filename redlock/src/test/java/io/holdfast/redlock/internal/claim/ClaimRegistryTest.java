package io.holdfast.redlock.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;

class ClaimRegistryTest {

    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final LockClaim CLAIM =
            LockClaim.first(LockKey.of(LockKind.MUTEX, "stock/42"), "claim", LEASE, Waiting.NOTIFY);

    private final ClaimRegistry registry = new ClaimRegistry(3);

    @Test
    void aClaimWithoutRequestsForTwoLeasesIsForgotten() {
        ClaimState state = registry.of(CLAIM, 0);
        assertThat(registry.size(2 * LEASE.toNanos())).isEqualTo(1);
        assertThat(registry.of(CLAIM, 0)).isSameAs(state);

        assertThat(registry.size(2 * LEASE.toNanos() + 1)).isZero();
    }

    /** A waiter may have to wait for a quarantine, which is as long as the longest lease of all clients. */
    @Test
    void aWatchedClaimIsNeverForgotten() {
        IntConsumer watch = master -> {};
        ClaimState state = registry.of(CLAIM, 0);
        state.onRename(watch);
        long late = 60 * LEASE.toNanos();

        assertThat(registry.size(late)).isEqualTo(1);
        assertThat(registry.of(CLAIM, late))
                .as("the state that its watch knows")
                .isSameAs(state);

        state.offRename(watch);
        assertThat(registry.size(2 * late)).isZero();
    }
}
