package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.SlotMap.Node;
import io.holdfast.redis.SlotMap.Redirection;
import java.util.List;
import org.junit.jupiter.api.Test;

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

    @Test
    void aHostThatTheClusterDoesNotKnowIsTheOneThatWasAsked() {
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
}
