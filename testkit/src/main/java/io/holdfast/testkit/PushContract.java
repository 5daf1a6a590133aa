package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;

/** The server pushes grants to waiters, and passes dead waiters over. */
interface PushContract extends LockBackendUnderTest {

    @Needs(Need.PUSHES)
    default void pushedGrantNamesTheAttemptThatItAnswers() {
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

    @Needs(Need.PUSHES)
    default void pushedLeaseCountsFromTheAttemptThatItAnswers() {
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

    @Needs(Need.PUSHES)
    default void pushedLeaseIsNotLongerThanTheClaimAsksFor() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender waiter = contest.waiter(lease());
            waiter.mustQueue(); // to open a watch may have taken half of its lease
            holder.release();
            Duration sinceAttempt = lease().dividedBy(2); // otherwise it would be stale
            assertThat(waiter.mustBePushed().lease()).isLessThan(lease().plus(sinceAttempt));
        }
    }

    @Needs(Need.PUSHES)
    default void pushedTokenIsTheTokenOfTheGrant() {
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

    @Needs(Need.PUSHES)
    default void renewalConfirmsAPushedGrant() {
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

    @Needs(Need.PUSHES)
    default void unconfirmedGrantEndsAfterTheClaimTime() {
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

    @Needs(Need.PUSHES)
    default void waiterWithoutAWatchIsPassedOver() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender dead = contest.exclusive(Contest.LONG, Waiting.QUEUE);
            dead.mustQueue();
            Contender next = contest.waiter();
            holder.release();
            next.mustBePushed();
            next.mustHold();
            dead.mustNotHold();
        }
    }

    @Needs(Need.PUSHES)
    default void waiterThatWasPassedOverKeepsItsPlace() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender first = contest.exclusive(Contest.LONG, Waiting.QUEUE);
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

    @Needs(Need.PUSHES)
    default void waiterThatStoppedTryingLosesItsPlace() {
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

    @Needs(Need.PUSHES)
    default void overtakenAttemptChangesNothing() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender waiter = contest.waiter();
            waiter.mustQueue();
            assertThat(waiter.attemptAs(1)).as("came late").isNotInstanceOf(LockAttempt.Acquired.class);
            holder.release();
            assertThat(waiter.mustBePushed().attempt()).isEqualTo(2);
        }
    }

    /** Neither pushes nor new claims wait for it: it may be dead. */
    @Needs(Need.PUSHES)
    default void newcomerPassesAWaiterWithoutAWatch() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender dead = contest.exclusive(Contest.LONG, Waiting.QUEUE);
            dead.mustQueue();
            holder.release();
            contest.contender().mustAcquire();
        }
    }

    @Needs(Need.PUSHES)
    default void waiterWhoseWatchWasCancelledIsPassedOver() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender first = contest.waiter();
            Contender next = contest.waiter();
            first.unwatch();
            holder.release();
            next.mustBePushed();
        }
    }
}
