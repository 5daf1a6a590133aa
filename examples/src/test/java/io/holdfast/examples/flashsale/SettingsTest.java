package io.holdfast.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {

    @Test
    void defaultsAreAThousandItemsForTenThousandBuyersUnderTheLock() {
        Settings settings = Settings.parse(List.of());

        assertThat(settings.items()).isEqualTo(1_000);
        assertThat(settings.buyers()).isEqualTo(10_000);
        assertThat(settings.withLock()).isTrue();
        assertThat(settings.redis()).isEmpty();
    }

    @Test
    void everyOptionIsUnderstood() {
        Settings settings = Settings.parse(
                List.of("--buyers", "20", "--without-lock", "--items", "5", "--redis", "redis://example:7000"));

        assertThat(settings.items()).isEqualTo(5);
        assertThat(settings.buyers()).isEqualTo(20);
        assertThat(settings.withLock()).isFalse();
        assertThat(settings.redis()).hasValueSatisfying(uri -> {
            assertThat(uri.getHost()).isEqualTo("example");
            assertThat(uri.getPort()).isEqualTo(7000);
        });
    }

    @Test
    void redlockGuardsTheStockOfTheSameServer() {
        Settings settings = Settings.parse(List.of("--redlock", "--redis", "redis://example:7000"));

        assertThat(settings.lock()).isEqualTo(LockAddress.Kind.REDLOCK);
        assertThat(settings.redis()).isPresent();
    }

    @Test
    void theLockMayBeInZooKeeper() {
        assertThat(Settings.parse(List.of("--items", "7", "--zookeeper")).lock())
                .isEqualTo(LockAddress.Kind.ZOOKEEPER);
    }

    @Test
    void tillsOfAShopHandTheLockOverOnlyWithTheOption() {
        assertThat(Settings.parse(List.of()).localHandOver()).isFalse();
        assertThat(Settings.parse(List.of("--redlock", "--local-hand-over")).localHandOver())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--zookeeper", "--without-lock"})
    void thereIsNoHandOverInsideAShopWhereItHasNoEffect(String lock) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Settings.parse(List.of(lock, "--local-hand-over")))
                .withMessage("--local-hand-over and %s exclude each other", lock);
    }

    @ParameterizedTest
    @CsvSource({"--redlock,--without-lock", "--zookeeper,--without-lock", "--redlock,--zookeeper"})
    void theLockIsInOnePlaceOrNowhere(String one, String other) {
        for (List<String> both : List.of(List.of(one, other), List.of(other, one))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Settings.parse(both))
                    .withMessage("%s and %s exclude each other", one, other);
        }
    }

    @Test
    void aShopReadsTheAddressOfTheLock() {
        LockAddress address = new LockAddress(LockAddress.Kind.REDLOCK, List.of("redis://a:1", "redis://b:2"));

        assertThat(LockAddress.parse(address.toText())).isEqualTo(address);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "many", "1000001", "99999999999", ""})
    void anInvalidNumberIsNamed(String value) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Settings.parse(List.of("--items", value)))
                .withMessage("--items must be a number from 1 to 1000000, was '%s'", value);
    }

    @Test
    void anUnknownOptionIsNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Settings.parse(List.of("--without-locks")))
                .withMessage("unknown option '--without-locks'");
    }

    @Test
    void anOptionWithoutItsValueIsNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Settings.parse(List.of("--buyers")))
                .withMessage("--buyers needs a value");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://:secret@example",
                "redis://me:secret#x@example",
                "redis://me:12#secret@example",
                "redis://me:secret:example:6379"
            })
    void anInvalidAddressIsNotRepeatedSinceItMayHoldAPassword(String address) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Settings.parse(List.of("--redis", address)))
                .withMessageNotContaining("secret")
                .havingCause()
                .withNoCause()
                .withMessageNotContaining("secret");
    }
}
