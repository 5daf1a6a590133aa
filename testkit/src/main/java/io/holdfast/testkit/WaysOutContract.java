package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKind;
import org.junit.jupiter.api.Test;

/**
 * A claim that ends without the lock, or a hold that is broken, costs the server at most as much as a claim that is
 * served, with what it does to the next hand-off. It costs no more if the queue is long.
 */
interface WaysOutContract extends LockBackendUnderTest {

    @Test
    default void refusalOfAClaimOfAMutexCostsAtMostAServedOne() {
        compare(LockKind.MUTEX, QueueAtWork::refusal);
    }

    @Test
    default void refusalOfAWriterCostsAtMostAServedOne() {
        compare(LockKind.WRITE, QueueAtWork::refusal);
    }

    @Test
    default void refusalOfAClaimOfASemaphoreCostsAtMostAServedOne() {
        compare(LockKind.SEMAPHORE, QueueAtWork::refusal);
    }

    @Test
    default void refusalByTheFullQueueOfAMutexCostsAtMostAServedClaim() {
        compareFull(LockKind.MUTEX);
    }

    @Test
    default void refusalByTheFullQueueOfWritersCostsAtMostAServedClaim() {
        compareFull(LockKind.WRITE);
    }

    @Test
    default void refusalByTheFullQueueOfASemaphoreCostsAtMostAServedClaim() {
        compareFull(LockKind.SEMAPHORE);
    }

    @Test
    default void withdrawalFromAMutexCostsAtMostAServedClaim() {
        compare(LockKind.MUTEX, QueueAtWork::withdrawal);
    }

    @Test
    default void withdrawalOfAWriterCostsAtMostAServedClaim() {
        compare(LockKind.WRITE, QueueAtWork::withdrawal);
    }

    @Test
    default void withdrawalFromASemaphoreCostsAtMostAServedClaim() {
        compare(LockKind.SEMAPHORE, QueueAtWork::withdrawal);
    }

    @Test
    default void timeOutOfAClaimOfAMutexCostsAtMostAServedOne() {
        compare(LockKind.MUTEX, QueueAtWork::timeOut);
    }

    @Test
    default void timeOutOfAWriterCostsAtMostAServedOne() {
        compare(LockKind.WRITE, QueueAtWork::timeOut);
    }

    @Test
    default void timeOutOfAClaimOfASemaphoreCostsAtMostAServedOne() {
        compare(LockKind.SEMAPHORE, QueueAtWork::timeOut);
    }

    @Test
    default void brokenHoldOfAMutexCostsAtMostAServedClaim() {
        compareBroken(LockKind.MUTEX);
    }

    @Test
    default void brokenHoldOfAWriterCostsAtMostAServedClaim() {
        compareBroken(LockKind.WRITE);
    }

    @Test
    default void brokenHoldOfASemaphoreCostsAtMostAServedClaim() {
        compareBroken(LockKind.SEMAPHORE);
    }

    private void compareFull(LockKind kind) {
        needsWorkOf(kind);
        LockBackend limited = clientWithLimit(QueueAtWork.SHORT);
        assumeTrue(limited != null, "needs a limit of waiters");
        compare(kind, queue -> queue.refusalByAFullQueue(limited));
    }

    private void compareBroken(LockKind kind) {
        LockInspector inspector = inspector();
        assumeTrue(inspector != null, "needs an inspector");
        compare(kind, queue -> queue.broken(inspector));
    }

    private void needsWorkOf(LockKind kind) {
        assumeTrue(serverWork() >= 0, "needs counted work");
        assumeTrue(pushesGrants() || signalsChanges(), "needs signals");
        assumeTrue(
                switch (kind) {
                    case MUTEX -> true;
                    case READ, WRITE -> backend().features().contains(LockFeature.READ_WRITE);
                    case SEMAPHORE -> backend().features().contains(LockFeature.SEMAPHORE);
                },
                "needs the kind " + kind);
    }

    private void compare(LockKind kind, QueueAtWork.WayOut wayOut) {
        needsWorkOf(kind);
        long served = QueueAtWork.work(this, kind, QueueAtWork.SHORT, QueueAtWork.NONE);
        long mixed = QueueAtWork.work(this, kind, QueueAtWork.SHORT, wayOut);
        assertThat(mixed - served).as("ways out, beside as many served claims").isLessThanOrEqualTo(served);
        long mixedInALongQueue = QueueAtWork.work(this, kind, QueueAtWork.LONG, wayOut);
        assertThat(mixedInALongQueue).as("in a long queue").isLessThanOrEqualTo(mixed + mixed / 4);
    }
}
