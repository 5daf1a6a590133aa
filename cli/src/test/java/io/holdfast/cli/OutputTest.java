package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class OutputTest {

    /** Clears the screen, and adds a line that looks like that of another lock. */
    private static final String HOSTILE = "\u001b[2J\nstock/1  mutex\u202e\"\\";

    private static LockHolder holder(String claim, long token) {
        return new LockHolder(
                claim,
                LockKind.MUTEX,
                1,
                token,
                Optional.of(Duration.ofSeconds(250)),
                Optional.of(Duration.ofMillis(25_300)),
                Map.of("lease", "30 s"));
    }

    private static LockReport lock(String name, LockHolder... holders) {
        return new LockReport(
                name,
                LockReport.Type.MUTEX,
                holders.length,
                List.of(holders),
                1,
                List.of(new LockWaiter(
                        "02@b:h:2", LockKind.SEMAPHORE, 2, 3, Optional.of(Duration.ofSeconds(3)), Map.of())),
                OptionalLong.of(7),
                Map.of(),
                List.of());
    }

    @Test
    void listIsATable() {
        assertThat(Tables.list(List.of(lock("stock/42", holder("01@orders:host-7:4711", 7)), lock("free"))))
                .containsExactly(
                        "LOCK      KIND   HOLDER              HELD        LEFT    WAITING",
                        "stock/42  mutex  orders:host-7:4711  4 min 10 s  25.3 s  1",
                        "free      mutex  -                   -           -       1");
    }

    @Test
    void hostileLockNameStaysInItsCell() {
        List<LockReport> locks = List.of(lock(HOSTILE, holder("01@\u001b[31m", 7)));
        String all = String.join("\n", Tables.list(locks)) + String.join("\n", Tables.show(locks.get(0)));
        assertThat(all.replace("\n", "")).matches("\\p{Print}*");
        assertThat(Tables.list(locks)).hasSize(2);
        assertThat(Tables.list(locks).get(1)).startsWith("\\u001b[2J\\nstock/1  mutex\\u202e\"\\");
    }

    @Test
    void longOwnerLabelDoesNotWidenTheTable() {
        List<LockReport> locks = List.of(lock("a", holder("01@" + "x".repeat(100_000), 7)), lock("b"));
        assertThat(Tables.list(locks)).allSatisfy(line -> assertThat(line).hasSizeLessThan(200));
    }

    @Test
    void jsonIsOneLineOfAscii() {
        String json = Json.of(lock(HOSTILE, holder("01@orders:host-7:4711", 7)));
        assertThat(json)
                .matches("\\p{Print}*")
                .startsWith("{\"name\":\"\\u001b[2J\\u000astock/1  mutex\\u202e\\\"\\\\\",\"type\":\"MUTEX\",")
                .contains("\"owner\":\"orders:host-7:4711\"")
                .contains("\"permits\":1,\"token\":7,\"heldMillis\":250000,\"leftMillis\":25300")
                .contains("\"lastToken\":7")
                .contains("\"permits\":2,\"allPermits\":3,\"waitingMillis\":3000");
    }

    @Test
    void jsonOfABreakIsThatOfTheEndpoint() {
        assertThat(Json.broken(HOSTILE, holder("01@orders:host-7:4711", 7)))
                .matches("\\p{Print}*")
                .startsWith("{\"name\":\"\\u001b[2J")
                .contains("\"broken\":true,\"holder\":{\"owner\":\"orders:host-7:4711\",\"claim\":\"01@orders");
    }
}
