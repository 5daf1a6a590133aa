package io.holdfast.zookeeper.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class QueueNodeTest {

    private static final long SESSION = 0xF234_5678_9ABC_DEF0L;

    private static LockClaim claim(String id, LockKind kind) {
        LockKey key = new LockKey(kind, "lock", kind == LockKind.SEMAPHORE ? 7 : 1);
        return LockClaim.first(key, id, Duration.ofSeconds(1), Waiting.QUEUE);
    }

    @ParameterizedTest
    @EnumSource(LockKind.class)
    void writtenNameIsParsedBack(LockKind kind) {
        LockClaim claim = claim("a-b_c/d", kind);
        String name = QueueNode.prefix(claim, SESSION) + "0000000042";
        QueueNode node = QueueNode.parse(name);
        assertThat(node)
                .isEqualTo(new QueueNode(name, "a-b%5Fc%2Fd", kind, claim.key().permits(), 1, SESSION, 42));
        assertThat(node.belongsTo(claim, SESSION)).isTrue();
        assertThat(node.belongsTo(claim, SESSION + 1))
                .as("a node of another session")
                .isFalse();
        assertThat(node.belongsTo(claim("other", kind), SESSION)).isFalse();
    }

    @Test
    void permitsAreInTheNameIfThereAreSeveral() {
        LockClaim claim = claim("id", LockKind.SEMAPHORE).withPermits(5);
        String name = QueueNode.prefix(claim, 0x1a) + "0000000042";
        assertThat(name).isEqualTo("id_s7-5_1a_0000000042");
        assertThat(QueueNode.parse(name)).isEqualTo(new QueueNode(name, "id", LockKind.SEMAPHORE, 7, 5, 0x1a, 42));
        assertThat(QueueNode.prefix(claim.withPermits(1), 0x1a)).isEqualTo("id_s7_1a_");
    }

    /** The length of the names limits the length of a queue: see QueueLimit. */
    @Test
    void namesHaveSeventyFiveCharactersAtMost() {
        int most = Integer.MAX_VALUE;
        LockClaim claim = LockClaim.first(
                new LockKey(LockKind.SEMAPHORE, "lock", most),
                "0123456789abcdef".repeat(2) + "@label",
                Duration.ofSeconds(1),
                Waiting.QUEUE);
        String name = QueueNode.prefix(claim.withPermits(most), -1) + "2147483646";
        assertThat(name).hasSize(75);
        assertThat(QueueNode.parse(name).permits()).isEqualTo(most);
        assertThat(QueueNode.parse(name).taken()).isEqualTo(most);
    }

    @Test
    void hyphenInAnIdIsNotTakenForPermits() {
        assertThat(QueueNode.parse("a-b_s7_1a_0000000042").taken()).isOne();
    }

    @ParameterizedTest
    @CsvSource({"0000000000,false", "2147483646,false", "2147483647,true", "-2147483648,true", "-0000000001,true"})
    void numbersEndWhereTheServersCounterDoes(String sequence, boolean isPast) {
        QueueNode node = QueueNode.parse("id_m1_abc_" + sequence);
        assertThat(node.sequence()).isEqualTo((int) Long.parseLong(sequence));
        assertThat(node.isPastTheEnd()).isEqualTo(isPast);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "lock-0000000001",
                "_c_0a6f-latch-0000000001",
                "id_m1_abc",
                "id_x1_abc_0000000001",
                "id_m_abc_0000000001",
                "id_m1_xyz_0000000001",
                "id_m1_abc_",
                "id_m1_abc_0000000001_",
                "id_m1_abc_1_0000000001",
                "id_m1__0000000001",
                "id_m1-1_abc_0000000001",
                "id_s3-_abc_0000000001",
                "id_s-2_abc_0000000001",
                "id_s3-0_abc_0000000001",
                "id_s3--1_abc_0000000001",
                "id_s3-1-1_abc_0000000001",
                "id__abc_0000000001",
                "id_m1",
                "____",
                "id_m1_abc_99999999999",
                "_m1_abc_0000000001"
            })
    void foreignNodesAreNoPlaces(String name) {
        assertThat(QueueNode.parse(name)).isNull();
    }

    /** The server appends the number. All else after the first separator is up to the later version. */
    @ParameterizedTest
    @ValueSource(
            strings = {"id_2m1_abc_0000000001", "id_9_0000000001", "i%20d_2m_1_x~y_0000000001", "id_10s5_0000000001"})
    void aDigitAfterTheIdIsTheVersionOfALaterForm(String name) {
        assertThat(QueueNode.parse(name)).isNull();
        assertThatThrownBy(() -> QueueNode.parseUpTo(1, List.of("a_m1_abc_0000000000", name)))
                .isInstanceOf(NewerFormException.class)
                .hasMessageContaining(name);
        assertThatThrownBy(() -> QueueStanding.of(List.of(name))).isInstanceOf(NewerFormException.class);
        assertThat(QueueNode.parseUpTo(0, List.of("a_m1_abc_0000000000", name))).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock-0000000001", "id_x1_abc_0000000001", "_2m1_abc_0000000001", "id_2m1_abc", "id_2"})
    void foreignNodesAreNoLaterForm(String name) {
        assertThat(QueueNode.parseUpTo(5, List.of(name))).isEmpty();
    }
}
