package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** What a claim waits for is remembered until the claim waits for something else or ends, and no longer. */
class PlacesTest {

    private final Strand strand = new Strand(Schedulers.immediate());
    private final Places places = new Places(
            new Signals(Schedulers.immediate()), new Tree(strand, new AccessRights(null)), false, place -> {}, strand);
    private final Place permit = places.open(LockClaim.first(
            new LockKey(LockKind.SEMAPHORE, "pool", 3),
            "claim",
            Duration.ofSeconds(30),
            io.holdfast.spi.Waiting.NOTIFY));

    /** As when a permit became free between two lists, and the creation of the node was refused then. */
    @Test
    void aClaimThatWaitedAndThenHasNoNodeLeavesNothingBehind() {
        places.expect("/holdfast/pool", permit);
        permit.left();
        places.expectNothing(permit);
        places.settle(permit);

        assertThat(places.waitedFor()).isZero();
        assertThat(places.all()).isEmpty();
    }

    @Test
    void aClaimThatWaitedAndThenHoldsLeavesNothingBehind() {
        places.expect("/holdfast/pool", permit);
        permit.hold();
        places.expectNothing(permit);

        assertThat(places.waitedFor()).isZero();
    }
}
