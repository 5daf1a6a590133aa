package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/** What a claim waits for is remembered until the claim waits for something else or ends, and no longer. */
class PlacesTest {

    private final Strand strand = new Strand(Schedulers.immediate());
    private final Places places = new Places(
            new Signals(Schedulers.immediate()),
            new Tree(strand, new AccessRights(null)),
            false,
            place -> {},
            strand,
            LockQueue::new);
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

    /** Locks that are held for a moment, one after the other: a thread that wakes for each would cost as much as an answer. */
    @Test
    void manyHoldersInARowWakeAThreadOnceInAPauseOnly() {
        VirtualTimeScheduler time = VirtualTimeScheduler.create();
        Strand later = new Strand(time);
        Places holders = new Places(
                new Signals(time), new Tree(later, new AccessRights(null)), false, place -> {}, later, LockQueue::new);
        Session session = new Session(null, 1, "/holdfast", event -> {}, new SessionProof(0, 3_000));
        for (int i = 0; i < 1_000; i++) {
            LockClaim claim = LockClaim.first(
                    LockKey.of(LockKind.MUTEX, "lock"),
                    "claim" + i,
                    Duration.ofSeconds(30),
                    io.holdfast.spi.Waiting.NONE);
            Place holder = holders.open(claim);
            holder.findQueue(session);
            holder.entered(
                    session, new Tree.Created(holder.queue().of(QueueNode.prefix(claim, 1) + "000000000" + i % 10), i));
            holder.hold();
            holders.hold(holder, session);
            holders.guardNoLonger(holder);
            holder.left();
            holders.settle(holder);
            time.advanceTimeBy(Duration.ofMillis(1));
        }
        time.advanceTimeBy(Duration.ofSeconds(1));
        assertThat(time.getScheduledTaskCount()).as("in a second").isBetween(10L, 25L);
        assertThat(holders.all()).isEmpty();
    }
}
