package io.holdfast.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SoakSettingsTest {

    private static SoakSettings parse(String line) {
        return SoakSettings.parse(List.of(line.split(" ", -1)));
    }

    @Test
    void allBackEndsShareTheTime() {
        SoakSettings one = parse("zookeeper --hours 8");
        assertThat(one.targets()).containsExactly(Target.ZOOKEEPER);
        assertThat(one.timeEach()).isEqualTo(Duration.ofHours(8));

        SoakSettings all = parse("all --minutes 60");
        assertThat(all.targets()).containsExactly(Target.values());
        assertThat(all.timeEach()).isEqualTo(Duration.ofMinutes(12));
    }

    @Test
    void theRateIsTheGivenOneOrTheDefaultOfTheBackEnd() {
        assertThat(parse("redlock --hours 1")
                        .order(Target.REDLOCK, Path.of("x"))
                        .rate())
                .isEqualTo(100);
        assertThat(parse("redlock --hours 1 --rate 50")
                        .order(Target.REDLOCK, Path.of("x"))
                        .rate())
                .isEqualTo(50);
        assertThat(parse("redis --hours 1 --flaw leak_listener").flaw()).isEqualTo(Flaw.LEAK_LISTENER);
    }

    @Test
    void theIntervalGrowsWithTheTime() {
        assertThat(SoakRun.interval(Duration.ofMinutes(1))).isEqualTo(Duration.ofSeconds(3));
        assertThat(SoakRun.interval(Duration.ofHours(8))).isEqualTo(Duration.ofMillis(14_400));
    }

    @Test
    void anInvalidOptionIsNamed() {
        assertThatIllegalArgumentException().isThrownBy(() -> parse("redis")).withMessageContaining("--hours");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --minutes 0"))
                .withMessageContaining("--minutes");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --hours 101"))
                .withMessageContaining("--hours");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --hours 1 --rate 0"))
                .withMessageContaining("--rate");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --hours 1 --flaw all"))
                .withMessageContaining("--flaw");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --hours 1 --seed 4"))
                .withMessageContaining("--seed");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("mysql --hours 1"))
                .withMessageContaining("mysql");
    }
}
