package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ChannelPulseTest {

    private record Planned(long millis, Runnable work) {}

    private final List<Planned> planned = new ArrayList<>();
    private final List<ChannelPulse.Question> silent = new ArrayList<>();

    /** The clock of a JVM may overflow. */
    private long now = Long.MAX_VALUE - 10;

    private final ChannelPulse pulse =
            new ChannelPulse((millis, work) -> planned.add(new Planned(millis, work)), () -> now, silent::add);

    @Test
    void oneLookInASecondAsksHoweverManyThereAre() {
        assertThat(pulse.ask()).isNotNull();
        for (int i = 0; i < 100; i++) {
            assertThat(pulse.ask()).isNull();
        }
        pass(ChannelPulse.PERIOD_MILLIS);
        assertThat(pulse.ask()).isNotNull();
    }

    @Test
    void noLookAsksWhileMessagesComeAnyway() {
        for (int i = 0; i < 10; i++) {
            pulse.heard();
            pass(ChannelPulse.PERIOD_MILLIS / 2);
            assertThat(pulse.ask()).isNull();
        }
    }

    @Test
    void echoThatComesInTimeIsAllThereIs() {
        ChannelPulse.Question question = question();
        pulse.heard();
        question.answered();
        passPatience(ChannelPulse.PATIENCE_MILLIS);
        assertThat(silent).isEmpty();
    }

    @Test
    void channelIsSuspectedWhenTheAnswerIsThereAndTheEchoIsNot() {
        ChannelPulse.Question question = question();
        pass(3);
        question.answered();
        passPatience(ChannelPulse.PATIENCE_MILLIS);
        assertThat(silent).containsExactly(question);
        assertThat(question.isUnheard()).isTrue();
    }

    @Test
    void lookThatIsNotAnsweredTellsNothingOfTheChannel() {
        assertThat(question().isUnheard()).isTrue();
        assertThat(planned).isEmpty();
    }

    @Test
    void slowAnswerIsNoDeadChannelAndEachWrongSuspicionWaitsLonger() {
        ChannelPulse.Question slow = question();
        pass(2_000);
        slow.answered();
        passPatience(4_000);
        pulse.heard();
        assertThat(slow.isUnheard()).isFalse();
        for (long patience : new long[] {1_000, 2_000, 4_000, 8_000, 8_000}) {
            pulse.wasWrong();
            pass(ChannelPulse.PERIOD_MILLIS);
            question().answered();
            passPatience(patience);
        }
        pulse.startAnew();
        pass(ChannelPulse.PERIOD_MILLIS);
        question().answered();
        passPatience(ChannelPulse.PATIENCE_MILLIS);
    }

    private ChannelPulse.Question question() {
        return Objects.requireNonNull(pulse.ask());
    }

    /** The one task that is planned for then. */
    private void passPatience(long millis) {
        assertThat(planned).hasSize(1);
        Planned check = planned.remove(0);
        assertThat(check.millis()).isEqualTo(millis);
        pass(millis);
        check.work().run();
    }

    private void pass(long millis) {
        now += TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
