package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The server pushes grants to waiters, and passes dead waiters over. */
interface PushContract extends LockBackendUnderTest {

    private void needsPushes() {
        assumeTrue(pushesGrants(), "needs pushed grants");
    }

    @Test
    default void pushedGrantNamesTheAttemptThatItAnswers() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender waiter = contest.waiter();
            waiter.mustQueue();
            waiter.mustQueue();
            holder.release();
            assertThat(waiter.mustBePushed().attempt()).isEqualTo(3);
            waiter.mustHold();
        }
    }

    @Test
    default void pushedLeaseCountsFromTheAttemptThatItAnswers() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Duration waited = Duration.ofMillis(100);
            Contender holder = contest.holder();
            Contender waiter = contest.waiter();
            passTime(waited);
            holder.release();
            // Expiry = grant + claim time; the client can place the time of the attempt on its own clock.
            assertThat(waiter.mustBePushed().lease())
                    .isGreaterThanOrEqualTo(waited.plus(claimTime()))
                    .isLessThan(claimTime().plus(waited).plus(patience()));
        }
    }

    @Test
    default void pushedLeaseIsNotLongerThanTheClaimAsksFor() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender waiter = contest.waiter(lease());
            waiter.mustQueue(); // to open a watch may have taken half of its lease
            holder.release();
            Duration sinceAttempt = lease().dividedBy(2); // otherwise it would be stale
            assertThat(waiter.mustBePushed().lease()).isLessThan(lease().plus(sinceAttempt));
        }
    }

    @Test
    default void pushedTokenIsTheTokenOfTheGrant() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.contender();
            long before = holder.mustAcquire();
            Contender waiter = contest.waiter();
            holder.release();
            WatchSignal.Granted granted = waiter.mustBePushed();
            assertThat(granted.fencingToken()).isGreaterThan(before);
            assertThat(waiter.mustAcquire()).isEqualTo(granted.fencingToken());
        }
    }

    @Test
    default void renewalConfirmsAPushedGrant() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender waiter = contest.waiter();
            holder.release();
            waiter.mustBePushed();
            waiter.mustHold();
            passTime(claimTime().plusMillis(100));
            contest.contender().mustBeRefused();
            waiter.mustHold();
        }
    }

    @Test
    default void unconfirmedGrantEndsAfterTheClaimTime() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender hung = contest.waiter();
            Contender next = contest.waiter();
            holder.release();
            hung.mustBePushed();
            next.mustQueue();
            passTime(claimTime().plusMillis(100));
            next.mustBeGranted();
            hung.mustNotHold();
        }
    }

    @Test
    default void waiterWithoutAWatchIsPassedOver() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender dead = contest.mutex(Contest.LONG, Waiting.QUEUE);
            dead.mustQueue();
            Contender next = contest.waiter();
            holder.release();
            next.mustBePushed();
            next.mustHold();
            dead.mustNotHold();
        }
    }

    @Test
    default void waiterThatWasPassedOverKeepsItsPlace() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender first = contest.mutex(Contest.LONG, Waiting.QUEUE);
            first.mustQueue();
            Contender second = contest.waiter();
            Contender third = contest.waiter();
            holder.release();
            second.mustBePushed();
            contest.queued(first.watching());
            second.release();
            first.mustBePushed();
            third.mustNotHold();
        }
    }

    @Test
    default void waiterThatStoppedTryingLosesItsPlace() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender stale = contest.waiter(lease());
            Contender next = contest.waiter();
            passTime(lease());
            holder.release();
            next.mustBePushed();
            stale.mustNotHold();
            stale.mustNotHaveBeenPushed();
        }
    }

    @Test
    default void overtakenAttemptChangesNothing() {
        needsPushes();
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender waiter = contest.waiter();
            waiter.mustQueue();
            assertThat(waiter.attemptAs(1)).as("came late").isNotInstanceOf(LockAttempt.Acquired.class);
            holder.release();
            assertThat(waiter.mustBePushed().attempt()).isEqualTo(2);
        }
    }
}
