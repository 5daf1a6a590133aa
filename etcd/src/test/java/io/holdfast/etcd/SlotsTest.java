package io.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.etcd.Slots.Slot;
import io.holdfast.spi.LockKey;
import org.junit.jupiter.api.Test;

class SlotsTest {

    private final Slots slots = new Slots(new Layout("holdfast/", "client"));
    private final LockKey stock = LockKey.of(LockKind.WRITE, "stock");

    private static String key(Slot slot) {
        return slot.key().toString(UTF_8);
    }

    @Test
    void keyOfAnEndedClaimIsUsedAgain() {
        Slot first = slots.take(stock);
        Slot second = slots.take(stock);
        assertThat(key(first)).isEqualTo("holdfast/line/rw/stock/client.0");
        assertThat(key(second)).isEqualTo("holdfast/line/rw/stock/client.1");
        slots.free(first);
        assertThat(slots.take(stock)).isEqualTo(first);
        assertThat(slots.take(stock).number()).isEqualTo(2);
    }

    @Test
    void readersAndWritersAreInOneLineAndOtherLocksInOthers() {
        assertThat(slots.take(stock).number()).isZero();
        assertThat(slots.take(LockKey.of(LockKind.READ, "stock")).number()).isEqualTo(1);
        assertThat(slots.take(LockKey.of(LockKind.MUTEX, "stock")).number()).isZero();
        assertThat(slots.take(LockKey.of(LockKind.WRITE, "other")).number()).isZero();
    }

    @Test
    void keyThatAnotherClientKeepsIsAvoidedWhileThereAreClaims() {
        Slot foreign = slots.take(stock);
        Slot own = slots.take(stock);
        slots.avoid(foreign);
        Slot next = slots.take(stock);
        assertThat(next.number()).isEqualTo(2);
        slots.free(own);
        assertThat(slots.take(stock).number()).isEqualTo(1);
        slots.free(next);
        slots.free(own);
        assertThat(slots.take(stock).number()).isZero();
    }
}
