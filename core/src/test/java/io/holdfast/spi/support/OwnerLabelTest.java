package io.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OwnerLabelTest {

    private static final String ALLOWED = "[A-Za-z0-9._:-]{1,48}";

    @ParameterizedTest
    @CsvSource({
        "orders, host-7, 4711, orders:host-7:4711",
        "Bestellungen für morgen, host_7, 1, Bestellungen-f-r-morgen:host_7:1",
        "'', '', 7, java:host:7",
        "a:b, c:d, 1, a-b:c-d:1",
        "the-application-with-a-very-long-name-indeed, orders-7d9f8b6c5-x2k4j, 123456, the-application-wi:orders-7d9f8b6c5-x2k4j:123456",
        "app, a-host-name-that-is-much-too-long-x2k4j, 1, app:t-is-much-too-long-x2k4j:1"
    })
    void partsAreCleanedAndCut(String application, String host, long pid, String label) {
        assertThat(OwnerLabel.of(application, host, pid)).isEqualTo(label).matches(ALLOWED);
    }

    @Test
    void longestProcessNumberFits() {
        assertThat(OwnerLabel.of("a".repeat(100), "h".repeat(100), Long.MAX_VALUE))
                .matches(ALLOWED)
                .endsWith(":" + Long.MAX_VALUE);
    }

    /** An argument may be a password. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {
                "com.example.Orders --password=secret, Orders",
                "/opt/orders-1.2.jar secret, orders-1.2",
                "C:\\apps\\orders.jar, orders",
                "orders/com.example.Orders, Orders",
                "'', ''",
                "null, ''"
            })
    void applicationIsWhatWasStartedWithoutItsArguments(@Nullable String command, String application) {
        assertThat(OwnerLabel.application(command)).isEqualTo(application);
    }

    @Test
    void defaultNamesThisProcess() {
        assertThat(OwnerLabel.ofProcess())
                .matches(ALLOWED)
                .endsWith(":" + ProcessHandle.current().pid());
        assertThat(OwnerLabel.ofApplication("orders")).startsWith("orders:");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "a b", "é", "a@b", "a\nb", "a/b", "0123456789012345678901234567890123456789012345678"})
    void anInvalidLabelIsRefused(String label) {
        LockClient.Builder builder = LockClient.builder(InMemoryLockBackend.create());
        assertThatThrownBy(() -> builder.owner(label))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("owner must be 1 to 48 characters")
                .hasMessageNotContaining("\n");
    }
}
