package io.holdfast.redlock.internal.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LossReason;
import io.holdfast.redlock.internal.quorum.WatchQuorum.Verdict;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class WatchQuorumTest {

    private static final WatchSignal ARMED = new WatchSignal.Armed();

    private final WatchQuorum tally = new WatchQuorum(5);

    @Test
    void armedOnceAMajorityIsAndOnlyOnce() {
        assertThat(tally.signalled(0, ARMED)).isEqualTo(Verdict.NOTHING);
        assertThat(tally.signalled(4, ARMED)).isEqualTo(Verdict.NOTHING);
        assertThat(tally.signalled(2, ARMED)).isEqualTo(Verdict.ARMED);
        assertThat(tally.signalled(1, ARMED)).isEqualTo(Verdict.NOTHING);
    }

    @Test
    void armedAgainAfterAnInterruptionOfAny() {
        for (int i = 0; i < 5; i++) {
            assertThat(tally.signalled(i, ARMED)).isNotEqualTo(Verdict.CHANGED);
        }
        assertThat(tally.signalled(3, ARMED)).isEqualTo(Verdict.ARMED);
    }

    @Test
    void masterThatIsArmedTwiceIsNotTwoMasters() {
        assertThat(tally.signalled(0, ARMED)).isEqualTo(Verdict.NOTHING);
        assertThat(tally.signalled(0, ARMED)).isEqualTo(Verdict.NOTHING);
        assertThat(tally.signalled(0, ARMED)).isEqualTo(Verdict.NOTHING);
    }

    @Test
    void changeAtAnyMasterIsAChange() {
        assertThat(tally.signalled(3, new WatchSignal.Changed())).isEqualTo(Verdict.CHANGED);
    }

    @Test
    void watchGoesOnWhileAMajorityCanBeWatched() {
        assertThat(tally.stopped(0)).isEqualTo(Verdict.NOTHING);
        assertThat(tally.stopped(1)).isEqualTo(Verdict.NOTHING);
        assertThat(tally.stopped(2)).isEqualTo(Verdict.STOPPED);
    }

    @Test
    void armedAgainWhenAMajorityIsWatchedAgainAfterItWasNot() {
        for (int i = 0; i < 3; i++) {
            assertThat(tally.signalled(i, ARMED)).isNotEqualTo(Verdict.CHANGED);
        }
        assertThat(tally.stopped(0)).isEqualTo(Verdict.NOTHING);
        tally.renewed(0);
        assertThat(tally.signalled(0, ARMED))
                .as("a release may have been missed")
                .isEqualTo(Verdict.ARMED);
    }

    @Test
    void masterThatIsWatchedAgainUnderANewIdHasNotStopped() {
        assertThat(tally.stopped(0)).isEqualTo(Verdict.NOTHING);
        assertThat(tally.stopped(1)).isEqualTo(Verdict.NOTHING);
        tally.renewed(0);
        assertThat(tally.stopped(2)).isEqualTo(Verdict.NOTHING);
        assertThat(tally.stopped(0)).isEqualTo(Verdict.STOPPED);
    }

    @Test
    void newIdAtAMasterIsNoInterruption() {
        for (int i = 0; i < 5; i++) {
            assertThat(tally.signalled(i, ARMED)).isNotEqualTo(Verdict.CHANGED);
        }
        tally.renewed(1);
        assertThat(tally.signalled(1, ARMED)).isEqualTo(Verdict.NOTHING);
    }

    @Test
    void grantWithoutAnAttemptIsUnwanted() {
        assertThat(tally.signalled(1, new WatchSignal.Granted(7, 1, Duration.ofSeconds(2))))
                .isEqualTo(Verdict.UNWANTED);
    }

    @Test
    void lossAtOneMasterIsCountedElsewhere() {
        assertThat(tally.signalled(1, new WatchSignal.Lost(LossReason.DISCONNECTED)))
                .isEqualTo(Verdict.LOST_HERE);
    }
}
