package io.holdfast.zookeeper.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

class ClaimRegistryTest {

    /** Locks are held for a moment, one after another. Waking a thread for each would cost as much as an answer. */
    @Test
    void manyHoldersInARowWakeOneThreadInAPause() {
        VirtualTimeScheduler time = VirtualTimeScheduler.create();
        SerialExecutor later = new SerialExecutor(time);
        ClaimRegistry holders = new ClaimRegistry(
                new ClaimSignals(time), new AsyncZooKeeper(later, new AccessRights(null)), later, LockQueue::create);
        Session session = new Session(null, 1, "", "/holdfast", event -> {}, SessionValidity.found(0, 3_000));
        for (int i = 0; i < 1_000; i++) {
            LockClaim claim = LockClaim.first(
                    LockKey.of(LockKind.MUTEX, "lock"),
                    "claim" + i,
                    Duration.ofSeconds(30),
                    io.holdfast.spi.Waiting.NONE);
            ClaimState holder = holders.open(claim);
            holder.findQueue(session);
            holder.entered(
                    session,
                    new AsyncZooKeeper.Created(
                            holder.queue().of(QueueNode.prefix(claim, 1) + "000000000" + i % 10), i));
            holder.hold(false);
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
