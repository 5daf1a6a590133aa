package io.holdfast.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.spi.LockBackend;

/**
 * A claim that ends without the lock, or a hold that is broken, costs the server at most as much as a claim that is
 * served, with what it does to the next hand-off. It costs no more if the queue is long.
 */
interface WaysOutContract extends LockBackendUnderTest {

    @Needs({Need.COUNTED_WORK, Need.FIFO})
    default void refusalOfAClaimOfAMutexCostsAtMostAServedOne() {
        compare(LockKind.MUTEX, QueueAtWork::refusal);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.READ_WRITE})
    default void refusalOfAWriterCostsAtMostAServedOne() {
        compare(LockKind.WRITE, QueueAtWork::refusal);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.SEMAPHORE})
    default void refusalOfAClaimOfASemaphoreCostsAtMostAServedOne() {
        compare(LockKind.SEMAPHORE, QueueAtWork::refusal);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.WAITER_LIMIT})
    default void refusalByTheFullQueueOfAMutexCostsAtMostAServedClaim() {
        compareFull(LockKind.MUTEX);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.READ_WRITE, Need.WAITER_LIMIT})
    default void refusalByTheFullQueueOfWritersCostsAtMostAServedClaim() {
        compareFull(LockKind.WRITE);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.SEMAPHORE, Need.WAITER_LIMIT})
    default void refusalByTheFullQueueOfASemaphoreCostsAtMostAServedClaim() {
        compareFull(LockKind.SEMAPHORE);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO})
    default void withdrawalFromAMutexCostsAtMostAServedClaim() {
        compare(LockKind.MUTEX, QueueAtWork::withdrawal);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.READ_WRITE})
    default void withdrawalOfAWriterCostsAtMostAServedClaim() {
        compare(LockKind.WRITE, QueueAtWork::withdrawal);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.SEMAPHORE})
    default void withdrawalFromASemaphoreCostsAtMostAServedClaim() {
        compare(LockKind.SEMAPHORE, QueueAtWork::withdrawal);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO})
    default void timeOutOfAClaimOfAMutexCostsAtMostAServedOne() {
        compare(LockKind.MUTEX, QueueAtWork::timeOut);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.READ_WRITE})
    default void timeOutOfAWriterCostsAtMostAServedOne() {
        compare(LockKind.WRITE, QueueAtWork::timeOut);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.SEMAPHORE})
    default void timeOutOfAClaimOfASemaphoreCostsAtMostAServedOne() {
        compare(LockKind.SEMAPHORE, QueueAtWork::timeOut);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.INSPECTOR})
    default void brokenHoldOfAMutexCostsAtMostAServedClaim() {
        compareBroken(LockKind.MUTEX);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.READ_WRITE, Need.INSPECTOR})
    default void brokenHoldOfAWriterCostsAtMostAServedClaim() {
        compareBroken(LockKind.WRITE);
    }

    @Needs({Need.COUNTED_WORK, Need.FIFO, Need.SEMAPHORE, Need.INSPECTOR})
    default void brokenHoldOfASemaphoreCostsAtMostAServedClaim() {
        compareBroken(LockKind.SEMAPHORE);
    }

    private void compareFull(LockKind kind) {
        LockBackend limited = requireNonNull(clientWithLimit(QueueAtWork.SHORT));
        compare(kind, queue -> queue.refusalByAFullQueue(limited));
    }

    private void compareBroken(LockKind kind) {
        LockInspector inspector = requireNonNull(inspector());
        compare(kind, queue -> queue.broken(inspector));
    }

    /**
     * A slow machine only adds work, such as a watch on a lock that is held for longer. So each count is the least of up
     * to three, also that of the served claims.
     */
    private void compare(LockKind kind, QueueAtWork.WayOut wayOut) {
        long served = Long.MAX_VALUE;
        long mixed = Long.MAX_VALUE;
        long mixedInALongQueue = Long.MAX_VALUE;
        for (int measurement = 1; ; measurement++) {
            served = Math.min(served, QueueAtWork.work(this, kind, QueueAtWork.SHORT, QueueAtWork.NONE));
            mixed = Math.min(mixed, QueueAtWork.work(this, kind, QueueAtWork.SHORT, wayOut));
            mixedInALongQueue = Math.min(mixedInALongQueue, QueueAtWork.work(this, kind, QueueAtWork.LONG, wayOut));
            boolean isLittle = mixed - served <= served && mixedInALongQueue <= mixed + mixed / 4;
            if (isLittle || measurement == 3) {
                break;
            }
        }
        assertThat(mixed - served).as("ways out, beside as many served claims").isLessThanOrEqualTo(served);
        assertThat(mixedInALongQueue).as("in a long queue").isLessThanOrEqualTo(mixed + mixed / 4);
    }
}
