package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

public class ChannelHeartbeatTest {

    /** From the answer to an attempt until its echo is missed. */
    public static final Duration PATIENCE = Duration.ofMillis(ChannelHeartbeat.PATIENCE_MILLIS);

    private record Planned(long millis, Runnable work) {}

    private final List<Planned> planned = new ArrayList<>();
    private final List<ChannelHeartbeat.Question> silent = new ArrayList<>();

    /** The clock of a JVM may overflow. */
    private long now = Long.MAX_VALUE - 10;

    private final ChannelHeartbeat heartbeat =
            new ChannelHeartbeat((millis, work) -> planned.add(new Planned(millis, work)), () -> now, silent::add);

    @Test
    void oneAttemptInASecondAsksHoweverManyThereAre() {
        assertThat(heartbeat.ask(false)).isNotNull();
        for (int i = 0; i < 100; i++) {
            assertThat(heartbeat.ask(false)).isNull();
        }
        pass(ChannelHeartbeat.PERIOD_MILLIS);
        assertThat(heartbeat.ask(false)).isNotNull();
    }

    @Test
    void noAttemptAsksWhileMessagesComeAnyway() {
        for (int i = 0; i < 10; i++) {
            heartbeat.heard();
            pass(ChannelHeartbeat.PERIOD_MILLIS / 2);
            assertThat(heartbeat.ask(false)).isNull();
        }
    }

    @Test
    void firstAttemptAsksOnlyAfterAWaiterHasLeftWithoutItsTurn() {
        assertThat(heartbeat.ask(true)).isNull();
        heartbeat.doubt();
        assertThat(heartbeat.ask(true)).isNotNull();
        heartbeat.heard();
        pass(ChannelHeartbeat.PERIOD_MILLIS);
        assertThat(heartbeat.ask(true)).isNull();
    }

    @Test
    void attemptThatIsGrantedTheLockLeavesItsQuestionToTheNextOne() {
        question().unasked();
        assertThat(heartbeat.ask(false)).isNotNull();
        assertThat(heartbeat.ask(false)).isNull();
    }

    @Test
    void echoThatComesInTimeIsAllThereIs() {
        ChannelHeartbeat.Question question = question();
        heartbeat.heard();
        question.answered();
        passPatience(ChannelHeartbeat.PATIENCE_MILLIS);
        assertThat(silent).isEmpty();
    }

    @Test
    void channelIsSuspectedWhenTheAnswerIsThereAndTheEchoIsNot() {
        ChannelHeartbeat.Question question = question();
        pass(3);
        question.answered();
        passPatience(ChannelHeartbeat.PATIENCE_MILLIS);
        assertThat(silent).containsExactly(question);
        assertThat(question.isUnheard()).isTrue();
    }

    @Test
    void attemptThatIsNotAnsweredTellsNothingOfTheChannel() {
        assertThat(question().isUnheard()).isTrue();
        assertThat(planned).isEmpty();
    }

    @Test
    void slowAnswerIsNoDeadChannelAndEachWrongSuspicionWaitsLonger() {
        ChannelHeartbeat.Question slow = question();
        pass(2_000);
        slow.answered();
        passPatience(4_000);
        heartbeat.heard();
        assertThat(slow.isUnheard()).isFalse();
        for (long patience : new long[] {1_000, 2_000, 4_000, 8_000, 8_000}) {
            heartbeat.wasWrong();
            pass(ChannelHeartbeat.PERIOD_MILLIS);
            question().answered();
            passPatience(patience);
        }
        heartbeat.startAnew();
        pass(ChannelHeartbeat.PERIOD_MILLIS);
        question().answered();
        passPatience(ChannelHeartbeat.PATIENCE_MILLIS);
    }

    private ChannelHeartbeat.Question question() {
        return Objects.requireNonNull(heartbeat.ask(false));
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
