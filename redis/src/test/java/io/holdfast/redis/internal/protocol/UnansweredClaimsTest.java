package io.holdfast.redis.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UnansweredClaimsTest {

    private final UnansweredClaims claims = new UnansweredClaims();

    @Test
    void claimIsKnownUntilItsReleaseIsAnswered() {
        claims.add("a");
        claims.add("b");
        claims.remove("a");
        assertThat(claims.contains("a")).isFalse();
        assertThat(claims.contains("b")).isTrue();
    }

    @Test
    void oldestAreForgottenWhenThereAreTooMany() {
        for (int i = 0; i <= 16_384; i++) {
            claims.add("claim-" + i);
        }
        assertThat(claims.contains("claim-0")).isFalse();
        assertThat(claims.contains("claim-1")).isTrue();
        assertThat(claims.contains("claim-16384")).isTrue();
    }
}
