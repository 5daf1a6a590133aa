package io.holdfast.redlock.internal.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TokenFloorTest {

    private static final long NOW = 1_800_000_000_000_000L;
    private static final long SECOND = 1_000_000L;

    @Test
    void proposalIsAheadOfTheClock() {
        assertThat(TokenFloor.proposed(NOW)).isEqualTo(NOW + SECOND);
    }

    @Test
    void nothingIsProposedThatMastersMustRefuse() {
        assertThat(TokenFloor.proposed(TokenFloor.LIMIT - SECOND)).isZero();
        assertThat(TokenFloor.proposed(TokenFloor.LIMIT - SECOND - 1)).isEqualTo(TokenFloor.LIMIT - 1);
        assertThat(TokenFloor.proposed(-NOW)).isZero();
    }
}
