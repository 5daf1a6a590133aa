package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** Waiting: the order of waiters, and how the next one gets the lock, by a signal or by its own attempt. */
interface QueueContract extends LockBackendUnderTest {

    @Test
    default void releasedLockComesToTheWaiter() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.contender();
            long before = holder.mustAcquire();
            Contender next = contest.exclusive(Contest.LONG, Waiting.QUEUE).watching();
            assertThat(next.attempt()).isNotInstanceOf(LockAttempt.Acquired.class);
            contest.armed(next);
            assertThat(holder.release()).isEqualTo(Ownership.HELD);
            assertThat(next.mustBeGranted()).isGreaterThan(before);
        }
    }

    @Needs(Need.FIFO)
    default void waitersAreServedFirstComeFirstServed() {
        try (Contest contest = new Contest(this)) {
            Contender owner = contest.holder();
            List<Contender> inOrder = Stream.generate(contest::waiter).limit(5).toList();
            for (Contender next : inOrder) {
                assertThat(owner.release()).isEqualTo(Ownership.HELD);
                next.mustBeGranted();
                owner = next;
            }
        }
    }

    /** The lock is new to the server and the client, and more claims come than a client sends at once. */
    @Needs(Need.FIFO)
    default void attemptsThatDoNotWaitForAnswersTakeTheirPlacesInTheirOrder() {
        try (Contest contest = new Contest(this)) {
            List<Contender> inOrder = Stream.generate(
                            () -> contest.exclusive(Contest.LONG, Waiting.QUEUE).watching())
                    .limit(40)
                    .toList();
            contest.answer(Flux.fromIterable(inOrder)
                    .flatMap(Contender::attempting, Integer.MAX_VALUE)
                    .count());
            for (Contender next : inOrder) {
                next.mustBeGranted();
                assertThat(next.release()).isEqualTo(Ownership.HELD);
            }
        }
    }

    @Needs(Need.FIFO)
    default void placeIsKeptWhenSentAgain() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender first = contest.waiter();
            Contender second = contest.waiter();
            first.mustQueue();
            holder.release();
            first.mustBeGranted();
            second.mustNotHold();
        }
    }

    @Needs(Need.FIFO)
    default void attemptThatMustNotWaitNeverOvertakesALiveWaiter() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender first = contest.waiter();
            holder.release();
            contest.contender().mustBeRefused();
            first.mustBeGranted();
        }
    }

    @Needs(Need.FIFO)
    default void expiredLockGoesToTheWaiterAndNotToTheClaimThatFindsTheExpiry() {
        try (Contest contest = new Contest(this)) {
            Contender expired = contest.holder(lease());
            Contender first = contest.waiter();
            makeExpire(expired.claim());
            contest.contender().mustBeRefused();
            first.mustBeGranted();
        }
    }

    @Test
    default void waiterFindsAnExpiryByItsNextAttempt() {
        try (Contest contest = new Contest(this)) {
            Contender expired = contest.holder(lease());
            Contender waiter = contest.exclusive(Contest.LONG, Waiting.QUEUE).watching();
            assertThat(waiter.attempt()).isNotInstanceOf(LockAttempt.Acquired.class);
            makeExpire(expired.claim());
            waiter.mustBeGranted();
        }
    }

    @Needs(Need.FIFO)
    default void firstWaiterHasToSendAnAttemptInEachClaimTime() {
        try (Contest contest = new Contest(this)) {
            contest.holder();
            LockAttempt answer = contest.exclusive(Contest.LONG, Waiting.QUEUE).attempt();
            assertThat(((LockAttempt.Queued) answer).nextAttemptWithin()).isLessThanOrEqualTo(claimTime());
        }
    }

    @Needs(Need.FIFO)
    default void waiterHasToSendAnAttemptBeforeItCountsAsDead() {
        try (Contest contest = new Contest(this)) {
            contest.holder();
            LockAttempt answer = contest.exclusive(lease(), Waiting.QUEUE).attempt();
            assertThat(((LockAttempt.Queued) answer).nextAttemptWithin()).isLessThan(lease().dividedBy(2));
        }
    }

    @Needs(Need.FIFO)
    default void releaseOfAQueuedClaimGivesUpItsPlace() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender first = contest.waiter();
            Contender second = contest.waiter();
            assertThat(first.release()).isEqualTo(Ownership.NOT_HELD);
            holder.release();
            second.mustBeGranted();
            first.mustNotHold();
            first.mustNotHaveBeenPushed();
        }
    }

    @Needs({Need.SIGNALS, Need.TOKEN_FLOOR})
    default void notifiedClaimGetsASignalOfTheRelease() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender notified = contest.exclusive(Contest.LONG, Waiting.NOTIFY).watching();
            notified.mustBeRefused();
            contest.armed(notified);
            notified.mustBeRefused();
            holder.release();
            notified.mustBeSignalled(WatchSignal.Changed.class);
            notified.mustAcquire();
        }
    }

    @Test
    default void notifiedClaimHasNoPlace() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            contest.exclusive(Contest.LONG, Waiting.NOTIFY).watching().mustBeRefused();
            holder.release();
            contest.contender().mustAcquire();
        }
    }

    @Needs(Need.SIGNALS)
    default void noReleaseIsMissedBetweenWatchAndAttempt() {
        for (int round = 0; round < 50; round++) {
            try (Contest contest = new Contest(this)) {
                Contender holder = contest.holder();
                Contender waiter =
                        contest.exclusive(Contest.LONG, Waiting.QUEUE).watching();
                var releasing = backend()
                        .release(holder.claim())
                        .subscribeOn(Schedulers.parallel())
                        .toFuture();
                if (!(waiter.attempt() instanceof LockAttempt.Acquired)) {
                    // A channel that opens with the first attempt may be armed after the release: only then the waiter
                    // sends another attempt.
                    contest.armed(waiter);
                    waiter.mustBeGranted();
                }
                assertThat(releasing).succeedsWithin(patience()).isEqualTo(Ownership.HELD);
            }
        }
    }
}
