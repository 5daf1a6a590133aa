package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.Ownership;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Fencing tokens rise from owner to owner. */
interface TokenContract extends LockBackendUnderTest {

    @Test
    default void tokensRiseFromOwnerToOwner() {
        try (Contest contest = new Contest(this)) {
            long last = 0;
            for (int round = 0; round < 20; round++) {
                Contender owner = round % 2 == 0 ? contest.contender() : contest.elsewhere();
                long token = owner.mustAcquire();
                assertThat(token).isGreaterThan(last);
                last = token;
                assertThat(owner.release()).isEqualTo(Ownership.HELD);
            }
        }
    }

    @Test
    default void tokensRiseAcrossAnExpiry() {
        try (Contest contest = new Contest(this)) {
            Contender expired = contest.holder(lease());
            long before = expired.mustAcquire();
            makeExpire(expired.claim());
            assertThat(contest.contender().mustAcquire()).isGreaterThan(before);
        }
    }

    @Test
    default void tokenStaysTheSameWhileHeld() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.contender();
            long token = holder.mustAcquire();
            contest.contender().mustBeRefused();
            holder.mustHold();
            assertThat(holder.mustAcquire()).isEqualTo(token);
        }
    }

    @Needs(Need.TOKEN_FLOOR)
    default void newGrantStartsAtTheFloor() {
        try (Contest contest = new Contest(this)) {
            long floor = floorAbove(contest);
            Contender holder = contest.contender();
            assertThat(Contender.token(holder.attemptWithFloor(floor))).isGreaterThanOrEqualTo(floor);
        }
    }

    @Needs(Need.TOKEN_FLOOR)
    default void floorRaisesTheTokenOfAHeldClaimAndOfAllAfterIt() {
        try (Contest contest = new Contest(this)) {
            long floor = floorAbove(contest);
            Contender holder = contest.contender();
            assertThat(holder.mustAcquire()).isLessThan(floor);
            assertThat(Contender.token(holder.attemptWithFloor(floor))).isEqualTo(floor);
            assertThat(Contender.token(holder.attemptWithFloor(1)))
                    .as("never lowered")
                    .isEqualTo(floor);
            holder.release();
            assertThat(contest.contender().mustAcquire()).isGreaterThan(floor);
        }
    }

    @Needs(Need.TOKEN_FLOOR)
    default void floorOutOfRangeIsRefused() {
        try (Contest contest = new Contest(this)) {
            Contender greedy = contest.contender();
            long limit = (1L << 53) - (1L << 40);
            assertThatThrownBy(() -> Mono.defer(
                                    () -> backend().tryAcquire(greedy.claim().withTokenFloor(limit)))
                            .toFuture()
                            .get(patience().toMillis(), TimeUnit.MILLISECONDS))
                    .hasCauseInstanceOf(IllegalArgumentException.class);
        }
    }

    /**
     * Returns a floor an hour of microseconds above the present token. A server whose tokens follow its clock does not
     * reach it within the test.
     */
    private long floorAbove(Contest contest) {
        Contender earlier = contest.contender();
        long floor = earlier.mustAcquire() + 3_600_000_000L;
        earlier.release();
        return floor;
    }
}
