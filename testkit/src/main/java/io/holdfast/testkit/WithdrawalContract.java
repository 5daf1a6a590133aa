package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** Claims are withdrawn while requests of theirs are under way. */
interface WithdrawalContract extends LockBackendUnderTest {

    @Test
    default void attemptAfterTheReleaseOfItsClaimTakesNothing() {
        try (Contest contest = new Contest(this)) {
            Contender withdrawn = contest.contender();
            assertThat(withdrawn.release()).isEqualTo(Ownership.NOT_HELD);
            assertThat(withdrawn.attemptAs(1)).isInstanceOf(LockAttempt.Contended.class);
            contest.contender().mustAcquire();
        }
    }

    @Test
    default void attemptAfterTheReleaseOfItsClaimGetsNoPlace() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender withdrawn = contest.mutex(Contest.LONG, Waiting.QUEUE).watching();
            withdrawn.release();
            assertThat(withdrawn.attemptAs(1)).isInstanceOf(LockAttempt.Contended.class);
            holder.release();
            contest.contender().mustAcquire();
            withdrawn.mustNotHold();
        }
    }

    @Needs(Need.FIFO)
    default void laterAttemptOfAQueuedClaimTakesNothingAfterItsRelease() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender withdrawn = contest.waiter();
            LockClaim secondAttempt = withdrawn.claim().withAttempt(2);
            assertThat(contest.answer(backend().release(secondAttempt))).isEqualTo(Ownership.NOT_HELD);
            holder.release();
            assertThat(contest.answer(backend().tryAcquire(secondAttempt))).isInstanceOf(LockAttempt.Contended.class);
            contest.contender().mustAcquire();
        }
    }

    @Test
    default void duplicatedAttemptHasTheEffectOfOne() {
        try (Contest contest = new Contest(this)) {
            LockClaim claim = contest.contender().claim();
            List<LockAttempt> answers = contest.answer(Flux.merge(
                            backend().tryAcquire(claim).subscribeOn(Schedulers.parallel()),
                            backend().tryAcquire(claim).subscribeOn(Schedulers.parallel()))
                    .collectList());
            assertThat(answers).extracting(Contender::token).hasSize(2).containsOnly(Contender.token(answers.get(0)));
            assertThat(contest.answer(backend().release(claim))).isEqualTo(Ownership.HELD);
            contest.contender().mustAcquire();
        }
    }

    @Test
    default void claimCancelledInFlightAndReleasedLeavesNothing() {
        try (Contest contest = new Contest(this)) {
            for (int round = 0; round < 50; round++) {
                Waiting waiting = round % 2 == 0 ? Waiting.NONE : Waiting.QUEUE;
                Contender leaving = contest.mutex(Contest.LONG, waiting);
                backend()
                        .tryAcquire(leaving.claim())
                        .subscribeOn(Schedulers.parallel())
                        .subscribe()
                        .dispose();
                leaving.release();
            }
            Contender next = contest.contender();
            next.mustAcquire();
            next.release();
            assertThat(leftovers()).isEmpty();
        }
    }

    @Needs(Need.PUSHES)
    default void releaseEndsAPushedGrantThatIsNotConfirmed() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender waiter = contest.waiter();
            holder.release();
            waiter.mustBePushed();
            assertThat(waiter.release()).isEqualTo(Ownership.HELD);
            contest.contender().mustAcquire();
        }
    }

    @Test
    default void laterAttemptOfAHolderTakesNothingAfterItsRelease() {
        try (Contest contest = new Contest(this)) {
            Contender withdrawn = contest.holder();
            LockClaim secondAttempt = withdrawn.claim().withAttempt(2);
            assertThat(contest.answer(backend().release(secondAttempt))).isEqualTo(Ownership.HELD);
            assertThat(contest.answer(backend().tryAcquire(secondAttempt))).isInstanceOf(LockAttempt.Contended.class);
            contest.contender().mustAcquire();
        }
    }
}
