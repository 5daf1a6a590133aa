package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.holdfast.LockKind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LockClaimTest {

    private static final LockKey KEY = LockKey.of(LockKind.MUTEX, "stock/42");
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final LockClaim claim = LockClaim.first(KEY, "id", LEASE, Waiting.QUEUE);

    @Test
    void theFirstAttemptIsNumberOneWithoutAFloor() {
        assertThat(claim).isEqualTo(new LockClaim(KEY, "id", LEASE, Waiting.QUEUE, 1, 0, 1, ""));
    }

    @Test
    void aCopyChangesOnePart() {
        assertThat(claim.withAttempt(2)).isEqualTo(new LockClaim(KEY, "id", LEASE, Waiting.QUEUE, 2, 0, 1, ""));
        assertThat(claim.withTokenFloor(9)).isEqualTo(new LockClaim(KEY, "id", LEASE, Waiting.QUEUE, 1, 9, 1, ""));
        assertThat(claim.withWaiting(Waiting.NONE))
                .isEqualTo(new LockClaim(KEY, "id", LEASE, Waiting.NONE, 1, 0, 1, ""));
        assertThat(claim.withAttempt(1)).isSameAs(claim);
    }

    @Test
    void numbersOutOfRangeAreRefusedWithTheirNameAndValue() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClaim.first(KEY, "id", Duration.ofNanos(999_999), Waiting.NONE))
                .withMessageContainingAll("lease", "1 ms", "PT0.000999999S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> claim.withAttempt(0))
                .withMessage("attempt must be at least 1, was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> claim.withTokenFloor(-1))
                .withMessage("tokenFloor must not be negative, was -1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> claim.withPermits(2))
                .withMessage("a claim of MUTEX lock 'stock/42' takes at least 1 and at most 1 permits, not 2");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of(3).withPermits(4))
                .withMessage("a claim of SEMAPHORE lock 'pool' takes at least 1 and at most 3 permits, not 4");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of(3).withPermits(0))
                .withMessageContainingAll("1", "3", "0");
    }

    @Test
    void allCopiesTakeAsManyPermits() {
        LockClaim many = of(3).withPermits(3);
        assertThat(many.permits()).isEqualTo(3);
        assertThat(many.withPermits(3)).isSameAs(many);
        assertThat(many.withAttempt(2).permits()).isEqualTo(3);
        assertThat(many.withTokenFloor(9).permits()).isEqualTo(3);
        assertThat(many.withWaiting(Waiting.NONE).permits()).isEqualTo(3);
        assertThat(many.withLease(Duration.ofSeconds(1)).permits()).isEqualTo(3);
        assertThat(many.withPermits(1)).isEqualTo(of(3));
    }

    private static LockClaim of(int permits) {
        return LockClaim.first(new LockKey(LockKind.SEMAPHORE, "pool", permits), "id", LEASE, Waiting.QUEUE);
    }
}
