package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TrackedTest {

    private final LockClaim claim =
            LockClaim.first(LockKey.of(LockKind.MUTEX, "stock"), "a-claim", Duration.ofSeconds(9), Waiting.QUEUE);
    private final Tracked tracked = new Tracked(claim, overdue -> {});
    private final EtcdLease lease = new EtcdLease(1, 1_000);

    @Test
    void deletionDoesNotBeginIfARequestHasKeptTheClaimMeanwhile() {
        tracked.placed(LockKind.MUTEX, 5, lease);
        tracked.keepUntil(100);
        assertThat(tracked.beginDeletion(5, 99)).isFalse();
        assertThat(tracked.mayBeDeleted(5)).isFalse();
        assertThat(tracked.beginDeletion(5, 100)).isTrue();
    }

    /** However late the deletion arrives, it does not find a place that was changed. */
    @Test
    void placeThatADeletionMayStillFindIsSafeOnlyAfterAChange() {
        tracked.placed(LockKind.MUTEX, 5, lease);
        assertThat(tracked.beginDeletion(5, 100)).isTrue();
        tracked.keepUntil(200);
        assertThat(tracked.mayBeDeleted(tracked.modified())).isTrue();
        tracked.attached(6, lease);
        assertThat(tracked.mayBeDeleted(tracked.modified())).isFalse();
    }

    @Test
    void lockThatWasPassedOnCountsOnceAndOnlyForAWhile() {
        tracked.placed(LockKind.MUTEX, 5, lease);
        tracked.passOn(5, 100);
        assertThat(tracked.takePassedOn(99)).isEqualTo(5);
        assertThat(tracked.takePassedOn(99)).isZero();
        tracked.passOn(5, 100);
        assertThat(tracked.takePassedOn(100)).isZero();
    }

    @Test
    void lockIsPassedOnToThePlaceThatWaitedAndNotToALaterOne() {
        tracked.placed(LockKind.MUTEX, 5, lease);
        boolean unused = tracked.lose();
        tracked.placed(LockKind.MUTEX, 7, lease);
        tracked.passOn(5, 100);
        assertThat(tracked.tokenIfHeld()).isZero();
        assertThat(tracked.takePassedOn(0)).isZero();
    }

    @Test
    void lockThatWasPassedOnDoesNotCountIfADeletionMayStillEndThePlace() {
        tracked.placed(LockKind.MUTEX, 5, lease);
        assertThat(tracked.beginDeletion(5, 100)).isTrue();
        tracked.passOn(5, 300);
        assertThat(tracked.takePassedOn(200)).isZero();
        tracked.attached(6, lease);
        tracked.passOn(5, 300);
        assertThat(tracked.takePassedOn(200)).isEqualTo(5);
    }

    /** An answer about a place that was lost meanwhile says nothing about the next one. */
    @Test
    void lateAnswerAboutAFormerPlaceMakesNoHolder() {
        tracked.placed(LockKind.MUTEX, 7, lease);
        tracked.hold(5);
        assertThat(tracked.isFirst()).isFalse();
        tracked.hold(7);
        assertThat(tracked.isFirst()).isTrue();
    }
}
