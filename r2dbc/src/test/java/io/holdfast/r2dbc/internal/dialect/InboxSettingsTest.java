package io.holdfast.r2dbc.internal.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

class InboxSettingsTest {

    @Test
    void messagesAreReadMoreOftenWhenTheyComeQuickly() {
        InboxSettings settings =
                new InboxSettings(Duration.ofSeconds(2), Duration.ofSeconds(2), Schedulers.immediate(), () -> true);
        assertThat(settings.pauseAfter(Duration.ZERO)).isEqualTo(Duration.ofMillis(5));
        assertThat(settings.pauseAfter(Duration.ofMillis(100))).isEqualTo(Duration.ofMillis(25));
        assertThat(settings.pauseAfter(Duration.ofMinutes(1))).isEqualTo(Duration.ofMillis(160));
    }

    @Test
    void grantIsReadWellBeforeItsClaimTimeIsOver() {
        InboxSettings settings =
                new InboxSettings(Duration.ofMillis(200), Duration.ofSeconds(2), Schedulers.immediate(), () -> true);
        assertThat(settings.pauseAfter(Duration.ofMinutes(1))).isEqualTo(Duration.ofMillis(50));
    }
}
