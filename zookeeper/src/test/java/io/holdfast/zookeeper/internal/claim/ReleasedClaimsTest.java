package io.holdfast.zookeeper.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReleasedClaimsTest {

    private final ReleasedClaims releasedClaims = new ReleasedClaims();

    @Test
    void releasedClaimIsRememberedForAWhile() {
        releasedClaims.add("a", 5);
        assertThat(releasedClaims.contains("a")).isTrue();
        assertThat(releasedClaims.contains("b")).isFalse();
        releasedClaims.add("b", 5 + ReleasedClaims.KEPT_NANOS);
        assertThat(releasedClaims.contains("a")).isFalse();
        assertThat(releasedClaims.contains("b")).isTrue();
    }

    @Test
    void memoryIsBounded() {
        for (int i = 0; i <= ReleasedClaims.MOST; i++) {
            releasedClaims.add("claim " + i, 0);
        }
        assertThat(releasedClaims.contains("claim 0")).isFalse();
        assertThat(releasedClaims.contains("claim 1")).isTrue();
        assertThat(releasedClaims.contains("claim " + ReleasedClaims.MOST)).isTrue();
    }
}
