package io.holdfast.redis.internal.topology;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.redis.internal.topology.SlotMap.Node;
import io.holdfast.redis.internal.topology.SlotMap.Redirection;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.SlotHash;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlotMapTest {

    private static final Node ASKED = new Node("10.0.0.9", 7000);

    @Test
    void everySlotOfARangeHasTheFirstServerOfTheRange() {
        SlotMap map = SlotMap.read(
                List.of(
                        List.of(0L, 99L, List.of("10.0.0.1", 7001L, "id"), List.of("10.0.0.2", 7002L, "id")),
                        List.of(100L, 100L, List.of("10.0.0.3", 7003L, "id"))),
                ASKED);
        assertThat(map.masterOf(0)).isEqualTo(new Node("10.0.0.1", 7001));
        assertThat(map.masterOf(99)).isEqualTo(new Node("10.0.0.1", 7001));
        assertThat(map.masterOf(100)).isEqualTo(new Node("10.0.0.3", 7003));
        assertThat(map.masterOf(101)).isNull();
        assertThat(map.nodes()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MAX_VALUE, 1_234_567})
    void aHashTagIsOfASlotOfItsMaster(int first) {
        Node few = new Node("10.0.0.1", 7001);
        Node most = new Node("10.0.0.2", 7002);
        SlotMap map = SlotMap.read(
                List.of(
                        List.of(0L, 11L, List.of("10.0.0.1", 7001L)),
                        List.of(12L, 16_383L, List.of("10.0.0.2", 7002L))),
                ASKED);

        for (Node master : List.of(few, most)) {
            String tag = map.hashTagOf(master, first);
            assertThat(tag).isNotNull().hasSizeLessThan(9);
            int slot = SlotHash.getSlot(("p:client:1:10.0.0.1:7001~2{" + tag + "}").getBytes(US_ASCII));
            assertThat(map.masterOf(slot)).isEqualTo(master);
        }
    }

    @Test
    void aServerWithoutSlotsHasNoHashTag() {
        SlotMap map = SlotMap.read(List.of(List.of(0L, 16_383L, List.of("10.0.0.2", 7002L))), ASKED);
        assertThat(map.hashTagOf(ASKED, 0)).isNull();
        assertThat(SlotMap.EMPTY.hashTagOf(ASKED, 0)).isNull();
    }

    @Test
    void anUnknownHostIsThatOfTheServerThatAnswered() {
        SlotMap map = SlotMap.read(List.of(List.of(0L, 1L, List.of("", 7001L))), ASKED);
        assertThat(map.masterOf(1)).isEqualTo(new Node("10.0.0.9", 7001));
        assertThat(SlotMap.redirection("MOVED 3999 :6381", ASKED))
                .isEqualTo(new Redirection(3999, new Node("10.0.0.9", 6381), false));
    }

    @Test
    void targetsOfRedirectionsAreReadAndNothingElse() {
        assertThat(SlotMap.redirection("MOVED 3999 127.0.0.1:6381", ASKED))
                .isEqualTo(new Redirection(3999, new Node("127.0.0.1", 6381), false));
        assertThat(SlotMap.redirection("ASK 3999 ::1:6381", ASKED))
                .isEqualTo(new Redirection(3999, new Node("::1", 6381), true));
        assertThat(SlotMap.redirection("NOPERM this user", ASKED)).isNull();
        assertThat(SlotMap.redirection("", ASKED)).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MOVED 3999 a b:1",
                "MOVED 3999 a\nb:6381",
                "MOVED 3999 user:x@h:6381",
                "MOVED 3999 127.0.0.1:0",
                "MOVED 3999 127.0.0.1:65536",
                "MOVED 3999 127.0.0.1:x",
                "MOVED 99999999999 127.0.0.1:1",
                "MOVED 16384 127.0.0.1:1",
                "MOVED -1 127.0.0.1:1"
            })
    void aMalformedRedirectionIsIgnored(String hostile) {
        assertThat(SlotMap.redirection(hostile, ASKED)).isNull();
    }

    @Test
    void anAnswerThatIsNoMapIsRefused() {
        Object host = List.of("10.0.0.1", 7001L);
        List<Object> hostile = List.of(
                List.of(0L, 16_384L, host),
                List.of(-1L, 5L, host),
                List.of(7L, 5L, host),
                List.of("0", 5L, host),
                List.of(0L, 5L, List.of()),
                List.of(0L, 5L, List.of("10.0.0.1")),
                List.of(0L, 5L, List.of("10.0.0.1", 0L)),
                List.of(0L, 5L, List.of("a b\n", 7001L)));
        for (Object range : hostile) {
            assertThatThrownBy(() -> SlotMap.read(List.of(range), ASKED)).isInstanceOf(RedisException.class);
        }
    }
}
