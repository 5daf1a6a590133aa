package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecentClaimsTest {

    private final RecentClaims<Integer> claims = new RecentClaims<>(100);

    @Test
    void aClaimIsRemovedOnceWithWhatIsRememberedAboutIt() {
        assertThat(claims.remove("a")).isNull();
        claims.add("a", 1);
        claims.add("a", 2);

        assertThat(claims.remove("a")).isEqualTo(2);
        assertThat(claims.remove("a")).isNull();
        assertThat(claims.contains("a")).isFalse();
    }

    @Test
    void aClaimThatDoesNotMeetTheConditionStays() {
        claims.add("a", 5);

        assertThat(claims.removeIf("a", known -> known > 5)).isNull();
        assertThat(claims.contains("a")).isTrue();
        assertThat(claims.removeIf("b", known -> true)).isNull();
        assertThat(claims.removeIf("a", known -> known == 5)).isEqualTo(5);
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
