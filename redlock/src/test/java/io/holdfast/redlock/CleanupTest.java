package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockClaim;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CleanupTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();

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
