package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLease;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A writer over five masters becomes a reader while some of them miss requests or answers. */
class RedlockDowngradeTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();
    private final Five.Client other = five.client();

    private LockLease writer() {
        return five.answer(client.locks.readWriteLock(Five.NAME).writeLock().acquire());
    }

    /** The clocks of 4 and 5 are ahead, so their grants have higher tokens, which the client has not seen. */
    @Test
    void aDowngradeIsNoLossWhileAMajorityHoldsTheLock() {
        for (int index : List.of(3, 4)) {
            five.masters.get(index).clock.wrongBy = Duration.ofSeconds(5);
            client.wires.get(index).fateOfReply = () -> Wire.Fate.IS_LOST;
        }
        LockLease writer = writer();
        five.pass(Five.LIMIT);
        client.up();
        client.down(1);

        LockLease reader = five.answer(writer.downgrade());

        assertThat(reader.isValid()).isTrue();
        client.up();
        five.subscribe(reader.release());
    }

    @Test
    void mastersThatMissedADowngradeLetReadersInAfterARenewal() {
        LockLease writer = writer();
        client.hung(4, 5);
        LockLease reader = five.answer(writer.downgrade());
        five.pass(Five.LIMIT);
        client.up();
        five.pass(Five.LEASE);

        other.down(1);
        LockLease second =
                five.answer(other.locks.readWriteLock(Five.NAME).readLock().tryAcquire());
        assertThat(List.of(reader, second)).allMatch(LockLease::isValid);
        five.subscribe(reader.release());
        five.subscribe(second.release());
    }
}
