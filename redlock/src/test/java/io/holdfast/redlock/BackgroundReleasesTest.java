package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redlock.internal.master.BackgroundReleases;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class BackgroundReleasesTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();

    @Test
    void aVoteThatIsUndoneCostsOneTimer() {
        Masters masters = five.masters(client);
        client.roundTrip(1, Five.LIMIT.dividedBy(2));
        long ownTasks = five.time.getScheduledTaskCount();
        masters.releases().release(0, Five.claim());
        assertThat(five.time.getScheduledTaskCount() - ownTasks)
                .as("its time limit, and the message")
                .isEqualTo(2);
        five.pass(Five.LIMIT);
        assertThat(masters.releases().underWay()).isZero();
    }

    @Test
    void aVoteIsNotUndoneAgainWhenItHasEndedByItself() {
        Masters masters = five.masters(client);
        client.down(1);
        LockClaim brief = LockClaim.first(Five.claim().key(), "brief", Duration.ofMillis(500), Waiting.NONE);
        masters.releases().release(0, brief);
        five.passMillis(500);
        int before = client.wires.get(0).requests;
        five.pass(Five.LEASE);
        assertThat(masters.releases().underWay()).isZero();
        assertThat(client.wires.get(0).requests).isEqualTo(before);
    }

    @Test
    void hungMasterDoesNotUseUpTheReleasesThatTheOthersNeed() {
        Masters masters = five.masters(client);
        client.hung(1);
        for (int i = 0; i < 6 * BackgroundReleases.MOST_AT_ONE_MASTER; i++) {
            masters.releases().release(0, Five.claim());
        }
        assertThat(masters.releases().underWay()).isEqualTo(BackgroundReleases.MOST_AT_ONE_MASTER);
        LockClaim vote = Five.claim();
        five.answer(five.masters.get(1).tryAcquire(vote));
        masters.releases().release(1, vote);
        assertThat(five.holding()).isEmpty();
        five.pass(Five.LEASE);
        assertThat(masters.releases().underWay()).isZero();
    }
}
