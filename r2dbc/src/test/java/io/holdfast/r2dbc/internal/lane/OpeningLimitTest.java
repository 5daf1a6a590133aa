package io.holdfast.r2dbc.internal.lane;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class OpeningLimitTest {

    private static final OpeningLimit FIRST = OpeningLimit.first(Duration.ofSeconds(2));

    @Test
    void firstConnectionHasTimeToLoadTheDriver() {
        assertThat(FIRST.limit()).isEqualTo(Duration.ofSeconds(10));
        assertThat(FIRST.tookTooLong().limit()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void laterConnectionsHaveTheTimeOfAReplyAndTwiceAsMuchAfterEachThatTookTooLong() {
        OpeningLimit later = FIRST.opened();
        assertThat(later.limit()).isEqualTo(Duration.ofSeconds(2));
        assertThat(later.tookTooLong().limit()).isEqualTo(Duration.ofSeconds(4));
        assertThat(later.tookTooLong().tookTooLong().tookTooLong().limit()).isEqualTo(Duration.ofSeconds(10));
        assertThat(later.tookTooLong().opened().limit()).isEqualTo(later.limit());
    }

    @Test
    void limitIsNeverShorterThanTheTimeOfAReply() {
        OpeningLimit patient = OpeningLimit.first(Duration.ofMinutes(1));
        assertThat(patient.limit()).isEqualTo(Duration.ofMinutes(1));
        assertThat(patient.opened().tookTooLong().limit()).isEqualTo(Duration.ofMinutes(1));
    }
}
