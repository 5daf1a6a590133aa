package io.holdfast.redlock.internal.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TokenFloorTest {

    private static final long NOW = 1_800_000_000_000_000L;
    private static final long SECOND = 1_000_000L;

    /** Of another client. */
    private static final long AHEAD = SECOND * 3 / 2;

    @Test
    void proposalIsAheadOfTheClock() {
        assertThat(TokenFloor.initial().proposed(NOW)).isEqualTo(NOW + SECOND);
    }

    @Test
    void proposalIsAboveTheLastTokenAlsoWhenTheClockWasSetBack() {
        TokenFloor floor = TokenFloor.initial().seen(NOW + SECOND, NOW + SECOND, NOW);
        assertThat(floor.proposed(NOW - SECOND / 2)).isEqualTo(NOW + SECOND + 1);
    }

    @Test
    void ownProposalsDoNotDriveTheFloorAwayFromTheClock() {
        TokenFloor floor = TokenFloor.initial();
        long now = NOW;
        for (int i = 0; i < 10_000; i++) {
            long proposal = floor.proposed(now);
            floor = floor.seen(proposal, proposal, now);
            now += 100;
        }
        assertThat(floor.proposed(now) - now).isBetween(SECOND, SECOND + 1_000);
    }

    @Test
    void twoClientsDoNotDriveEachOtherAway() {
        TokenFloor[] floors = {TokenFloor.initial(), TokenFloor.initial()};
        long[] skew = {0, 5_000};
        long stored = 0;
        long now = NOW;
        for (int i = 0; i < 10_000; i++) {
            int who = i % 2;
            long clock = now + skew[who];
            long proposal = floors[who].proposed(clock);
            stored = Math.max(stored + 1, proposal);
            floors[who] = floors[who].seen(stored, proposal, clock);
            now += 700;
        }
        assertThat(stored - now).isLessThan(SECOND + 20_000);
    }

    @Test
    void clientWhoseClockIsBehindLearnsTheLeadOfTheOthers() {
        TokenFloor floor = TokenFloor.initial().seen(NOW + AHEAD, NOW + SECOND, NOW);
        assertThat(floor.proposed(NOW)).isEqualTo(NOW + AHEAD + 1);
        assertThat(floor.proposed(NOW + 3 * SECOND)).isEqualTo(NOW + 3 * SECOND + AHEAD + 1);
    }

    /** Otherwise a new client would get a lower token after the masters have lost their data. */
    @Test
    void tokensThatAreFarAheadDoNotDriveTheFloorFarFromTheClock() {
        TokenFloor floor = TokenFloor.initial().seen(NOW + 3_600 * SECOND, NOW + SECOND, NOW);
        for (long later = 0; later < 3_600 * SECOND; later += SECOND) {
            assertThat(floor.proposed(NOW + later)).isEqualTo(NOW + later + SECOND + TokenFloor.MOST_LEAD_MICROS);
        }
    }

    @Test
    void nothingIsProposedThatMastersMustRefuse() {
        assertThat(TokenFloor.initial().proposed(TokenFloor.LIMIT)).isZero();
        long last = TokenFloor.LIMIT - 1;
        assertThat(TokenFloor.initial().seen(last, last, last - SECOND).proposed(last - SECOND))
                .isZero();
        assertThat(TokenFloor.initial().proposed(-NOW)).isZero();
    }

    /** Others would not believe it. */
    @Test
    void nothingIsProposedByAClockThatIsFarAhead() {
        long far = TokenFloor.MOST_PROPOSED - SECOND;
        assertThat(TokenFloor.initial().proposed(far)).isEqualTo(TokenFloor.MOST_PROPOSED);
        assertThat(TokenFloor.initial().proposed(far + 1)).isZero();
    }
}
