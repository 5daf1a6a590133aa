package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TombstonesTest {

    private final Tombstones tombstones = new Tombstones();

    @Test
    void releasedClaimIsRememberedForAWhile() {
        tombstones.add("a", 5);
        assertThat(tombstones.contains("a")).isTrue();
        assertThat(tombstones.contains("b")).isFalse();
        tombstones.add("b", 5 + Tombstones.KEPT_NANOS);
        assertThat(tombstones.contains("a")).isFalse();
        assertThat(tombstones.contains("b")).isTrue();
    }

    @Test
    void memoryIsBounded() {
        for (int i = 0; i <= Tombstones.MOST; i++) {
            tombstones.add("claim " + i, 0);
        }
        assertThat(tombstones.contains("claim 0")).isFalse();
        assertThat(tombstones.contains("claim 1")).isTrue();
        assertThat(tombstones.contains("claim " + Tombstones.MOST)).isTrue();
    }
}
