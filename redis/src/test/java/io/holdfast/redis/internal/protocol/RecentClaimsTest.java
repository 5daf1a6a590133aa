package io.holdfast.redis.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecentClaimsTest {

    private final RecentClaims claims = new RecentClaims(100);

    @Test
    void claimIsKnownUntilItIsRemovedWithALaterToken() {
        claims.add("a", 0);
        claims.add("b", 5);
        assertThat(claims.remove("a", 1)).isTrue();
        assertThat(claims.remove("a", 1)).isFalse();
        assertThat(claims.remove("b", 5)).isFalse();
        assertThat(claims.contains("a")).isFalse();
        assertThat(claims.contains("b")).isTrue();
    }

    @Test
    void oldestAreForgottenWhenThereAreTooMany() {
        for (int i = 0; i <= 100; i++) {
            claims.add("claim-" + i, 0);
        }
        assertThat(claims.contains("claim-0")).isFalse();
        assertThat(claims.contains("claim-1")).isTrue();
        assertThat(claims.contains("claim-100")).isTrue();
    }
}
