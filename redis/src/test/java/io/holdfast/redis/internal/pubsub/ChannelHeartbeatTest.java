package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

public class ChannelHeartbeatTest {

    /** The time from the answer to an attempt until its echo counts as missing. */
    public static final Duration PATIENCE = Duration.ofMillis(ChannelHeartbeat.PATIENCE_MILLIS);

    private record Planned(long millis, Runnable work) {}

    private final List<Planned> planned = new ArrayList<>();
    private final List<ChannelHeartbeat.EchoRequest> silent = new ArrayList<>();

    /** The clock of a JVM may overflow. */
    private long now = Long.MAX_VALUE - 10;

    private final ChannelHeartbeat heartbeat =
            new ChannelHeartbeat((millis, work) -> planned.add(new Planned(millis, work)), () -> now, silent::add);

    @Test
    void oneAttemptInASecondRequestsAnEcho() {
        assertThat(heartbeat.requestEcho(false)).isNotNull();
        for (int i = 0; i < 100; i++) {
            assertThat(heartbeat.requestEcho(false)).isNull();
        }
        pass(ChannelHeartbeat.PERIOD_MILLIS);
        assertThat(heartbeat.requestEcho(false)).isNotNull();
    }

    @Test
    void noAttemptRequestsAnEchoWhileMessagesCome() {
        for (int i = 0; i < 10; i++) {
            heartbeat.heard();
            pass(ChannelHeartbeat.PERIOD_MILLIS / 2);
            assertThat(heartbeat.requestEcho(false)).isNull();
        }
    }

    @Test
    void aFirstAttemptRequestsAnEchoOnlyAfterAWaiterHasLeftWithoutItsTurn() {
        assertThat(heartbeat.requestEcho(true)).isNull();
        heartbeat.doubt();
        assertThat(heartbeat.requestEcho(true)).isNotNull();
        heartbeat.heard();
        pass(ChannelHeartbeat.PERIOD_MILLIS);
        assertThat(heartbeat.requestEcho(true)).isNull();
    }

    @Test
    void aGrantedAttemptLeavesTheRequestForAnEchoToTheNextOne() {
        echoRequest().notPublished();
        assertThat(heartbeat.requestEcho(false)).isNotNull();
        assertThat(heartbeat.requestEcho(false)).isNull();
    }

    @Test
    void anEchoInTimeLeavesTheChannelAlone() {
        ChannelHeartbeat.EchoRequest echoRequest = echoRequest();
        heartbeat.heard();
        echoRequest.answered();
        passPatience(ChannelHeartbeat.PATIENCE_MILLIS);
        assertThat(silent).isEmpty();
    }

    @Test
    void channelIsSuspectedWhenTheAnswerIsThereAndTheEchoIsNot() {
        ChannelHeartbeat.EchoRequest echoRequest = echoRequest();
        pass(3);
        echoRequest.answered();
        passPatience(ChannelHeartbeat.PATIENCE_MILLIS);
        assertThat(silent).containsExactly(echoRequest);
        assertThat(echoRequest.isUnheard()).isTrue();
    }

    @Test
    void anUnansweredAttemptProvesNothingAboutTheChannel() {
        assertThat(echoRequest().isUnheard()).isTrue();
        assertThat(planned).isEmpty();
    }

    @Test
    void slowAnswerIsNoDeadChannelAndEachWrongSuspicionWaitsLonger() {
        ChannelHeartbeat.EchoRequest slow = echoRequest();
        pass(2_000);
        slow.answered();
        passPatience(4_000);
        heartbeat.heard();
        assertThat(slow.isUnheard()).isFalse();
        for (long patience : new long[] {1_000, 2_000, 4_000, 8_000, 8_000}) {
            heartbeat.wasWrong();
            pass(ChannelHeartbeat.PERIOD_MILLIS);
            echoRequest().answered();
            passPatience(patience);
        }
        heartbeat.startAnew();
        pass(ChannelHeartbeat.PERIOD_MILLIS);
        echoRequest().answered();
        passPatience(ChannelHeartbeat.PATIENCE_MILLIS);
    }

    private ChannelHeartbeat.EchoRequest echoRequest() {
        return Objects.requireNonNull(heartbeat.requestEcho(false));
    }

    /** Runs the one task that is planned for that time. */
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
