package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import java.util.List;

/** Claims of a semaphore that take several permits. */
interface PermitsContract extends LockBackendUnderTest {

    private static Contender queued(Contest contest, int taken, int permits) {
        return contest.queued(contest.permits(taken, permits, Waiting.QUEUE).watching());
    }

    @Needs(Need.MANY_PERMITS)
    default void manyPermitsOfAClaimAreTakenAndReleasedTogether() {
        try (Contest contest = new Contest(this)) {
            Contender three = contest.permits(3, 5, Waiting.NONE);
            long first = three.mustAcquire();
            contest.permits(3, 5, Waiting.NONE).mustBeRefused();
            long second = contest.permits(2, 5, Waiting.NONE).mustAcquire();
            assertThat(second).as("a token for all permits of a claim").isGreaterThan(first);
            contest.permits(1, 5, Waiting.NONE).mustBeRefused();
            assertThat(three.release()).isEqualTo(Ownership.HELD);
            contest.permits(4, 5, Waiting.NONE).mustBeRefused();
            assertThat(contest.permits(3, 5, Waiting.NONE).mustAcquire()).isGreaterThan(second);
            contest.permits(1, 5, Waiting.NONE).mustBeRefused();
        }
    }

    @Needs(Need.MANY_PERMITS)
    default void oneClaimMayTakeAllPermits() {
        try (Contest contest = new Contest(this)) {
            Contender all = contest.permits(1_000, 1_000, Waiting.NONE);
            all.mustAcquire();
            contest.permits(1, 1_000, Waiting.NONE).mustBeRefused();
            all.release();
            contest.permits(1, 1_000, Waiting.NONE).mustAcquire();
            contest.permits(1_000, 1_000, Waiting.NONE).mustBeRefused();
            contest.permits(999, 1_000, Waiting.NONE).mustAcquire();
        }
    }

    @Needs(Need.MANY_PERMITS)
    default void claimOfManyPermitsThatIsRefusedLeavesNothing() {
        try (Contest contest = new Contest(this)) {
            contest.permits(1, 3, Waiting.NONE).mustAcquire();
            contest.permits(3, 3, Waiting.NONE).mustBeRefused();
            contest.permits(2, 3, Waiting.NONE).mustAcquire();
        }
    }

    @Needs(Need.MANY_PERMITS)
    default void claimOfManyPermitsThatIsRepeatedCountsOnce() {
        try (Contest contest = new Contest(this)) {
            Contender two = contest.permits(2, 3, Waiting.NONE);
            long token = two.mustAcquire();
            assertThat(two.mustAcquire()).isEqualTo(token);
            assertThat(Contender.token(two.attemptAs(1))).isEqualTo(token);
            contest.permits(2, 3, Waiting.NONE).mustBeRefused();
            contest.permits(1, 3, Waiting.NONE).mustAcquire();
            two.release();
            contest.permits(2, 3, Waiting.NONE).mustAcquire();
        }
    }

    @Needs(Need.MANY_PERMITS)
    default void secondReleaseOfManyPermitsFreesNothing() {
        try (Contest contest = new Contest(this)) {
            Contender two = contest.permits(2, 4, Waiting.NONE);
            two.mustAcquire();
            contest.permits(2, 4, Waiting.NONE).mustAcquire();
            assertThat(two.release()).isEqualTo(Ownership.HELD);
            assertThat(two.release()).isEqualTo(Ownership.NOT_HELD);
            contest.permits(3, 4, Waiting.NONE).mustBeRefused();
            contest.permits(2, 4, Waiting.NONE).mustAcquire();
            contest.permits(1, 4, Waiting.NONE).mustBeRefused();
        }
    }

    /** The server knows how many permits a claim has taken: a renewal and a release need not state it. */
    @Needs(Need.MANY_PERMITS)
    default void renewalAndReleaseNeedNotSayHowManyPermits() {
        try (Contest contest = new Contest(this)) {
            Contender all = contest.permits(3, 3, Waiting.NONE);
            all.mustAcquire();
            all.mustHoldAs(all.claim().withPermits(1));
            contest.permits(1, 3, Waiting.NONE).mustBeRefused();
            assertThat(all.release()).isEqualTo(Ownership.HELD);
            contest.permits(3, 3, Waiting.NONE).mustAcquire();
        }
    }

    @Needs(Need.MANY_PERMITS)
    default void claimOfManyPermitsIsJudgedByItsOwnLimit() {
        try (Contest contest = new Contest(this)) {
            Contender two = contest.permits(2, 2, Waiting.NONE);
            two.mustAcquire();
            contest.permits(3, 4, Waiting.NONE).mustBeRefused();
            contest.permits(3, 5, Waiting.NONE).mustAcquire();
            contest.permits(1, 5, Waiting.NONE).mustBeRefused();
            two.release();
            contest.permits(1, 3, Waiting.NONE).mustBeRefused();
            contest.permits(1, 4, Waiting.NONE).mustAcquire();
        }
    }

    @Needs({Need.MANY_PERMITS, Need.FIFO})
    default void firstWaiterThatWantsManyPermitsIsNotPassedByOthers() {
        try (Contest contest = new Contest(this)) {
            Contender one = contest.permits(1, 3, Waiting.NONE);
            Contender other = contest.permits(1, 3, Waiting.NONE);
            one.mustAcquire();
            other.mustAcquire();
            Contender large = queued(contest, 3, 3);
            Contender small = queued(contest, 1, 3);
            contest.permits(1, 3, Waiting.NONE).mustBeRefused();
            one.release();
            small.mustQueue();
            large.mustNotHold();
            contest.permits(1, 3, Waiting.NONE).mustBeRefused();
            other.release();
            large.mustBeGranted();
            small.mustNotHold();
            small.mustNotHaveBeenPushed();
            large.release();
            small.mustBeGranted();
        }
    }

    @Needs({Need.MANY_PERMITS, Need.FIFO})
    default void permitsThatGetFreeGoToTheFirstWaitersThatFit() {
        try (Contest contest = new Contest(this)) {
            Contender all = contest.permits(4, 4, Waiting.NONE);
            all.mustAcquire();
            Contender one = queued(contest, 1, 4);
            Contender two = queued(contest, 2, 4);
            Contender another = queued(contest, 2, 4);
            Contender last = queued(contest, 1, 4);
            all.release();
            one.mustBeGranted();
            two.mustBeGranted();
            another.mustNotHold();
            last.mustNotHold();
            one.release();
            another.mustBeGranted();
            last.mustNotHold();
            two.release();
            last.mustBeGranted();
        }
    }

    @Needs({Need.MANY_PERMITS, Need.FIFO})
    default void waiterOfManyPermitsThatLeavesLetsTheOthersPass() {
        try (Contest contest = new Contest(this)) {
            contest.permits(1, 3, Waiting.NONE).mustAcquire();
            Contender large = queued(contest, 3, 3);
            Contender one = queued(contest, 1, 3);
            Contender other = queued(contest, 1, 3);
            assertThat(large.release()).isEqualTo(Ownership.NOT_HELD);
            one.mustBeGranted();
            other.mustBeGranted();
            contest.permits(1, 3, Waiting.NONE).mustBeRefused();
        }
    }

    @Needs({Need.MANY_PERMITS, Need.FIFO})
    default void holderOfManyPermitsThatExpiresMakesRoomForSeveral() {
        try (Contest contest = new Contest(this)) {
            Contender expired = contest.permits(3, 3, lease(), Waiting.NONE);
            expired.mustAcquire();
            Contender two = queued(contest, 2, 3);
            Contender one = queued(contest, 1, 3);
            Contender last = queued(contest, 1, 3);
            makeExpire(expired.claim());
            two.mustBeGranted();
            one.mustBeGranted();
            last.mustNotHold();
            expired.mustNotHold();
        }
    }

    @Needs({Need.MANY_PERMITS, Need.FIFO})
    default void holdersThatExpireMakeRoomForOneOfManyPermits() {
        try (Contest contest = new Contest(this)) {
            Contender one = contest.permits(1, 3, lease(), Waiting.NONE);
            Contender two = contest.permits(2, 3, lease(), Waiting.NONE);
            one.mustAcquire();
            two.mustAcquire();
            Contender large = queued(contest, 3, 3);
            makeExpire(one.claim());
            makeExpire(two.claim());
            large.mustBeGranted();
            contest.permits(1, 3, Waiting.NONE).mustBeRefused();
        }
    }

    @Needs({Need.MANY_PERMITS, Need.HOLDERS})
    default void holdersAndWaitersReportTheirPermits() {
        try (Contest contest = new Contest(this)) {
            Contender two = contest.permits(2, 3, Waiting.NONE);
            Contender one = contest.permits(1, 3, Waiting.NONE);
            two.mustAcquire();
            one.mustAcquire();
            LockKey key = LockKey.of(LockKind.SEMAPHORE, contest.name());
            reportTheirPermits(contest.answer(backend().holders(key).collectList()));
            LockInspector inspector = inspector();
            if (inspector != null) {
                Contender waiter = contest.permits(2, 3, Waiting.QUEUE).watching();
                LockAttempt unused = waiter.attempt();
                LockReport report =
                        contest.answer(inspector.inspect(contest.name()).single());
                reportTheirPermits(report.holders());
                if (backend().features().contains(LockFeature.FIFO)) {
                    assertThat(report.waiters()).singleElement().satisfies(PermitsContract::tellsItsPermits);
                }
            }
        }
    }

    private static void reportTheirPermits(List<LockHolder> holders) {
        assertThat(holders).extracting(LockHolder::permits).containsExactly(2, 1);
    }

    private static void tellsItsPermits(LockWaiter waiter) {
        assertThat(waiter.permits()).isEqualTo(2);
        assertThat(waiter.allPermits()).isEqualTo(3);
    }
}
