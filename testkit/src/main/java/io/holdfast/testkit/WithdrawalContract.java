package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
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
            Contender withdrawn = contest.exclusive(Contest.LONG, Waiting.QUEUE).watching();
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
                Contender leaving = contest.exclusive(Contest.LONG, waiting);
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

    /**
     * Otherwise the attempt that was never answered, and arrives late, would take the lock for a whole lease. This client
     * of the back end does not know of that attempt, as if another client had sent it.
     */
    @Needs({Need.MIN_HOLD, Need.HAND_ON})
    default void lateAttemptOfADeniedLeaseTakesNothing() {
        FirstAttemptUnderWay store = new FirstAttemptUnderWay(backend());
        LockOptions options = LockOptions.builder()
                .leaseDuration(Contest.LONG)
                .autoRenew(false)
                .build();
        LockClient client = LockClient.builder(store).closeBackend(false).build();
        try (Contest contest = new Contest(this)) {
            LockLease lease =
                    contest.answer(client.lock(contest.name()).with(options).acquire());
            LockClaim shortened = store.held.get().withLease(lease());
            assertThat(contest.answer(backend().renew(shortened))).isInstanceOf(Renewal.Held.class);
            makeExpire(shortened);
            assertThatThrownBy(() -> contest.answer(lease.renew().thenReturn(true)))
                    .hasCauseInstanceOf(LockLostException.class);

            assertThat(contest.answer(store.released.asMono())).isEqualTo(Ownership.NOT_HELD);
            assertThat(contest.answer(backend().tryAcquire(store.held.get().withAttempt(1))))
                    .isInstanceOf(LockAttempt.Contended.class);
            assertThat(contest.answer(client.close().thenReturn(true))).isTrue();
            contest.contender().mustAcquire();
        }
    }

    /** The first attempt is not answered, and has not arrived so far. */
    final class FirstAttemptUnderWay implements ForwardingLockBackend {

        private final LockBackend store;
        private final AtomicReference<LockClaim> held = new AtomicReference<>();
        private final Sinks.One<Ownership> released = Sinks.one();

        private FirstAttemptUnderWay(LockBackend store) {
            this.store = store;
        }

        @Override
        public LockBackend delegate() {
            return store;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            held.set(claim);
            return claim.attempt() == 1
                    ? Mono.error(new LockBackendException(claim.key().name(), "no answer", true, null))
                    : store.tryAcquire(claim);
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return store.release(claim).doOnNext(released::tryEmitValue);
        }
    }
}
