package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CleanupTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();

    @Test
    void aVoteThatIsUndoneCostsOneTimer() {
        Masters masters = new Masters(RedlockBackend.builder(client.wires), five.time);
        client.roundTrip(1, Five.LIMIT.dividedBy(2));
        long ownTasks = five.time.getScheduledTaskCount();
        masters.cleanup.release(0, Five.claim());
        assertThat(five.time.getScheduledTaskCount() - ownTasks)
                .as("its time limit, and the message")
                .isEqualTo(2);
        five.pass(Five.LIMIT);
        assertThat(masters.cleanup.underWay()).isZero();
    }

    @Test
    void aVoteIsNotUndoneAgainWhenItHasEndedByItself() {
        Masters masters = new Masters(RedlockBackend.builder(client.wires), five.time);
        client.down(1);
        LockClaim brief = LockClaim.first(Five.claim().key(), "brief", Duration.ofMillis(500), Waiting.NONE);
        masters.cleanup.release(0, brief);
        five.passMillis(500);
        int before = client.wires.get(0).requests;
        five.pass(Five.LEASE);
        assertThat(masters.cleanup.underWay()).isZero();
        assertThat(client.wires.get(0).requests).isEqualTo(before);
    }

    @Test
    void hungMasterDoesNotUseUpTheReleasesThatTheOthersNeed() {
        Masters masters = new Masters(RedlockBackend.builder(client.wires), five.time);
        client.hung(1);
        for (int i = 0; i < 6 * Cleanup.MOST_AT_ONE_MASTER; i++) {
            masters.cleanup.release(0, Five.claim());
        }
        assertThat(masters.cleanup.underWay()).isEqualTo(Cleanup.MOST_AT_ONE_MASTER);
        LockClaim vote = Five.claim();
        five.answer(five.masters.get(1).tryAcquire(vote));
        masters.cleanup.release(1, vote);
        assertThat(five.holding()).isEmpty();
        five.pass(Five.LEASE);
        assertThat(masters.cleanup.underWay()).isZero();
    }
}
