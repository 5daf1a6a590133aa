package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class LockOptionsTest {

    private static final Duration TOO_LONG = Duration.ofSeconds(Long.MAX_VALUE);

    @Test
    void theDefaultsAreAsDocumented() {
        LockOptions options = LockOptions.defaults();

        assertThat(options.leaseDuration()).isEqualTo(Duration.ofSeconds(30));
        assertThat(options.waitTimeout()).isEmpty();
        assertThat(options.autoRenew()).isTrue();
        assertThat(options.maxHoldTime()).isEmpty();
        assertThat(options.minHoldTime()).isEmpty();
        assertThat(options.backoff())
                .isEqualTo(Backoff.exponential(Duration.ofMillis(20), Duration.ofSeconds(1))
                        .withJitter(0.5));
        assertThat(options.reentrant()).isTrue();
        assertThat(LockOptions.builder().build()).isEqualTo(options);
    }

    @Test
    void toBuilderCopiesAllOptions() {
        LockOptions options = everyOptionChanged();

        assertThat(options.toBuilder().build())
                .isEqualTo(options)
                .hasSameHashCodeAs(options)
                .hasToString(options.toString());
        assertThat(options.toBuilder()
                        .noWaitTimeout()
                        .noMaxHoldTime()
                        .noMinHoldTime()
                        .build())
                .isEqualTo(LockOptions.builder()
                        .leaseDuration(Duration.ofSeconds(5))
                        .autoRenew(false)
                        .backoff(Backoff.fixed(Duration.ofMillis(7)))
                        .reentrant(false)
                        .build());
    }

    @Test
    void optionsThatDifferInOneValueAreNotEqual() {
        LockOptions options = everyOptionChanged();
        List<LockOptions> others = List.of(
                options.toBuilder().leaseDuration(Duration.ofSeconds(6)).build(),
                options.toBuilder().waitTimeout(Duration.ofSeconds(2)).build(),
                options.toBuilder().autoRenew(true).build(),
                options.toBuilder().maxHoldTime(Duration.ofSeconds(10)).build(),
                options.toBuilder().minHoldTime(Duration.ofSeconds(4)).build(),
                options.toBuilder().backoff(LockOptions.defaults().backoff()).build(),
                options.toBuilder().reentrant(true).build());

        assertThat(others).doesNotContain(options).doesNotHaveDuplicates();
    }

    @Test
    void aBuilderDoesNotChangeItsResult() {
        LockOptions.Builder builder = LockOptions.builder();
        LockOptions built = builder.build();

        LockOptions later = builder.reentrant(false).build();

        assertThat(built.reentrant()).isTrue();
        assertThat(later.reentrant()).isFalse();
    }

    @Test
    void aDurationOutOfRangeIsRefusedWithItsNameValueAndRule() {
        LockOptions.Builder builder = LockOptions.builder();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.leaseDuration(Duration.ofMillis(9)))
                .withMessage("leaseDuration must be from 10 ms to 366 days, was PT0.009S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.leaseDuration(TOO_LONG))
                .withMessageContainingAll("leaseDuration", "366 days", TOO_LONG.toString());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.maxHoldTime(Duration.ZERO))
                .withMessage("maxHoldTime must be from 1 ms to 366 days, was PT0S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.waitTimeout(Duration.ofSeconds(-1)))
                .withMessage("waitTimeout must be 0 (one attempt), or from 1 ms to 366 days, was PT-1S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.waitTimeout(Duration.ofNanos(1)))
                .withMessageContainingAll("waitTimeout", "PT0.000000001S");
    }

    @Test
    void aWaitTimeoutOfZeroIsOneAttempt() {
        assertThat(LockOptions.builder().waitTimeout(Duration.ZERO).build().waitTimeout())
                .contains(Duration.ZERO);
    }

    @Test
    void minHoldTimeAboveTheLongestIsRefusedWithBothNamesAndValues() {
        LockOptions.Builder builder =
                LockOptions.builder().maxHoldTime(Duration.ofSeconds(40)).minHoldTime(Duration.ofSeconds(41));

        assertThatIllegalArgumentException()
                .isThrownBy(builder::build)
                .withMessageContainingAll("maxHoldTime", "PT40S", "minHoldTime", "PT41S", "at least");
        assertThat(builder.minHoldTime(Duration.ofSeconds(40)).build().minHoldTime())
                .contains(Duration.ofSeconds(40));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.minHoldTime(Duration.ZERO))
                .withMessage("minHoldTime must be from 1 ms to 366 days, was PT0S");
    }

    @Test
    void maxHoldTimeBelowTheLeaseIsRefusedWithBothNamesAndValues() {
        LockOptions.Builder builder =
                LockOptions.builder().maxHoldTime(Duration.ofSeconds(10)).leaseDuration(Duration.ofSeconds(20));

        assertThatIllegalArgumentException()
                .isThrownBy(builder::build)
                .withMessageContainingAll("maxHoldTime", "PT10S", "leaseDuration", "PT20S", "at least");
        assertThat(builder.leaseDuration(Duration.ofSeconds(10)).build().maxHoldTime())
                .contains(Duration.ofSeconds(10));
    }

    @Test
    void nullIsRefusedByName() {
        LockOptions.Builder builder = LockOptions.builder();

        assertThatNullPointerException()
                .isThrownBy(() -> builder.leaseDuration(null))
                .withMessage("leaseDuration");
        assertThatNullPointerException()
                .isThrownBy(() -> builder.waitTimeout(null))
                .withMessage("waitTimeout");
        assertThatNullPointerException()
                .isThrownBy(() -> builder.maxHoldTime(null))
                .withMessage("maxHoldTime");
        assertThatNullPointerException().isThrownBy(() -> builder.backoff(null)).withMessage("backoff");
    }

    private static LockOptions everyOptionChanged() {
        return LockOptions.builder()
                .leaseDuration(Duration.ofSeconds(5))
                .waitTimeout(Duration.ofSeconds(1))
                .autoRenew(false)
                .maxHoldTime(Duration.ofSeconds(9))
                .minHoldTime(Duration.ofSeconds(3))
                .backoff(Backoff.fixed(Duration.ofMillis(7)))
                .reentrant(false)
                .build();
    }
}
