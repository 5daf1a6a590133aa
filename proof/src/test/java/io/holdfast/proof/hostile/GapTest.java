package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class GapTest {

    @Test
    void gapsThatOverlapBecomeOne() {
        assertThat(Gap.merged(List.of(new Gap(50, 60), new Gap(10, 30)), List.of(new Gap(20, 25), new Gap(30, 40))))
                .containsExactly(new Gap(10, 40), new Gap(50, 60));
    }

    @Test
    void gapsThatDoNotOverlapStay() {
        assertThat(Gap.merged(List.of(new Gap(3, 4)), List.of(new Gap(1, 2))))
                .containsExactly(new Gap(1, 2), new Gap(3, 4));
    }
}
