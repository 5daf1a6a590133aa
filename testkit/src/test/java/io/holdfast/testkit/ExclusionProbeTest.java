package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class ExclusionProbeTest {

    @Test
    void ownersOneAfterTheOtherWithRisingTokensAreFine() {
        ExclusionProbe probe = ExclusionProbe.exclusive();
        probe.guard(1, Mono.empty()).subscribe();
        probe.guard(2, Mono.error(new IllegalStateException("work failed"))).subscribe(it -> {}, error -> {});
        probe.guard(3, Mono.never()).subscribe().dispose();
        assertThatCode(probe::verify).doesNotThrowAnyException();
        assertThat(probe.tokens()).containsExactly(1L, 2L, 3L);
    }

    @Test
    void twoOwnersAtOnceAreFound() {
        ExclusionProbe probe = ExclusionProbe.exclusive();
        probe.enter(1);
        probe.enter(2);
        probe.exit();
        probe.exit();
        assertThatThrownBy(probe::verify).isInstanceOf(AssertionError.class).hasMessageContaining("2 were inside");
    }

    @Test
    void tokenThatDoesNotRiseIsFound() {
        ExclusionProbe probe = ExclusionProbe.exclusive();
        probe.guard(2, Mono.empty()).subscribe();
        probe.guard(2, Mono.empty()).subscribe();
        assertThatThrownBy(probe::verify)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("token 2 came after 2");
    }

    @Test
    void asManyAsPermittedAreFine() {
        ExclusionProbe probe = ExclusionProbe.of(2);
        probe.enter(1);
        probe.enter(2);
        assertThatCode(probe::verify).doesNotThrowAnyException();
        assertThat(probe.mostAtOnce()).isEqualTo(2);
    }
}
