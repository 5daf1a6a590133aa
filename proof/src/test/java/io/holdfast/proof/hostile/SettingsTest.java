package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SettingsTest {

    private static final long ANY_SEED = 5;

    private static Settings parse(String line) {
        return Settings.parse(List.of(line.split(" ")), ANY_SEED);
    }

    @Test
    void aCampaignHasOneBackEndOrAll() {
        assertThat(parse("redlock --minutes 3").targets()).containsExactly(Target.REDLOCK);
        assertThat(parse("all --minutes 3").targets()).containsExactly(Target.values());
    }

    @Test
    void theSeedIsTheGivenOneOrArbitrary() {
        assertThat(parse("redis --minutes 3 --seed 42").seed()).isEqualTo(42);
        assertThat(parse("redis --minutes 3").seed()).isEqualTo(ANY_SEED);
        assertThat(parse("redis --minutes 3").time()).isEqualTo(Duration.ofMinutes(3));
    }

    @Test
    void theLeaseHasADefaultForEachBackEnd() {
        assertThat(parse("zookeeper --minutes 3").terms(Target.ZOOKEEPER)).isEqualTo(Terms.of(Target.ZOOKEEPER));
        assertThat(parse("redlock --minutes 3 --lease 6 --flaw no_quarantine").terms(Target.REDLOCK))
                .isEqualTo(new Terms(Target.REDLOCK, Duration.ofSeconds(6), Flaw.NO_QUARANTINE, false));
    }

    @Test
    void clientsHandOverInsideTheirProcessesOnlyWithTheOption() {
        Terms terms = parse("redis --minutes 3 --hand-over local").terms(Target.REDIS);
        assertThat(terms.handsOver()).isTrue();
        assertThat(Terms.parse(List.of(terms.toText().split(" ")))).isEqualTo(terms);
        assertThat(parse("redis --minutes 3 --hand-over none").terms(Target.REDIS))
                .isEqualTo(Terms.of(Target.REDIS));
    }

    @Test
    void anInvalidOptionIsNamed() {
        assertThatIllegalArgumentException().isThrownBy(() -> parse("redis")).withMessageContaining("--minutes");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --minutes 0"))
                .withMessageContaining("--minutes");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --minutes 3 --speed 4"))
                .withMessageContaining("--speed");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --minutes 3 --lease 61"))
                .withMessageContaining("--lease");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --minutes 3 --clients 0"))
                .withMessageContaining("--clients");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --minutes 3 --flaw all"))
                .withMessageContaining("--flaw");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("redis --minutes 3 --hand-over all"))
                .withMessageContaining("--hand-over");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("mysql --minutes 3"))
                .withMessageContaining("mysql");
    }
}
