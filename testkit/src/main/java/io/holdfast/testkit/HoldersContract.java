package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import org.assertj.core.groups.Tuple;

/** The back end reports the claims that hold a lock. */
interface HoldersContract extends LockBackendUnderTest {

    private List<LockHolder> holders(Contest contest, LockKind kind) {
        return holders(contest, backend(), kind);
    }

    private static List<LockHolder> holders(Contest contest, LockBackend backend, LockKind kind) {
        return contest.answer(backend.holders(LockKey.of(kind, contest.name())).collectList());
    }

    @Needs(Need.HOLDERS)
    default void holderIsReportedToEachClient() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.contender();
            long token = holder.mustAcquire();

            for (LockBackend client : List.of(backend(), anotherClient())) {
                List<LockHolder> reported = holders(contest, client, LockKind.MUTEX);
                assertThat(reported).hasSize(1);
                LockHolder it = reported.get(0);
                assertThat(it.claimId()).isEqualTo(holder.claim().id());
                assertThat(it.owner()).isEqualTo(holder.claim().owner());
                assertThat(it.kind()).isEqualTo(LockKind.MUTEX);
                assertThat(it.fencingToken()).isEqualTo(token);
                it.remaining()
                        .ifPresent(remaining -> assertThat(remaining).isBetween(Duration.ofMillis(1), Contest.LONG));
                it.held().ifPresent(held -> assertThat(held).isBetween(Duration.ZERO, Contest.LONG));
            }
            holder.mustHold();
        }
    }

    @Needs(Need.HOLDERS)
    default void freeLockHasNoHolder() {
        try (Contest contest = new Contest(this)) {
            assertThat(holders(contest, LockKind.MUTEX)).isEmpty();
            contest.holder().release();
            assertThat(holders(contest, LockKind.MUTEX)).isEmpty();
        }
    }

    @Needs(Need.HOLDERS)
    default void claimWhoseLeaseIsOverIsNoHolder() {
        try (Contest contest = new Contest(this)) {
            Contender expired = contest.holder(lease());
            makeExpire(expired.claim());
            assertThat(holders(contest, LockKind.MUTEX)).isEmpty();
        }
    }

    /**
     * The request grants nothing and ends nothing: the waiter gets the lock by the release, with its place as before.
     */
    @Needs(Need.HOLDERS)
    default void waiterIsNoHolderBeforeItHasTheLock() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Contender waiter = contest.exclusive(Contest.LONG, Waiting.QUEUE).watching();
            assertThat(waiter.attempt()).isNotInstanceOf(LockAttempt.Acquired.class);

            assertThat(holders(contest, LockKind.MUTEX))
                    .extracting(LockHolder::claimId)
                    .containsExactly(holder.claim().id());

            holder.release();
            long token = waiter.mustBeGranted();
            List<LockHolder> reported = holders(contest, LockKind.MUTEX);
            assertThat(reported)
                    .extracting(LockHolder::claimId)
                    .containsExactly(waiter.claim().id());
            assertThat(reported).extracting(LockHolder::fencingToken).containsExactly(token);
        }
    }

    @Needs({Need.HOLDERS, Need.READ_WRITE})
    default void bothSidesOfAReadWriteLockReportAllItsHolders() {
        try (Contest contest = new Contest(this)) {
            Contender reader = contest.of(LockKind.READ, Waiting.NONE);
            Contender another = contest.of(LockKind.READ, Waiting.NONE);
            reader.mustAcquire();
            another.mustAcquire();
            for (LockKind side : List.of(LockKind.READ, LockKind.WRITE)) {
                assertThat(holders(contest, side))
                        .extracting(LockHolder::claimId, LockHolder::kind)
                        .containsExactly(tupleOf(reader, LockKind.READ), tupleOf(another, LockKind.READ));
            }
            reader.release();
            another.release();
            Contender writer = contest.of(LockKind.WRITE, Waiting.NONE);
            writer.mustAcquire();
            assertThat(holders(contest, LockKind.READ))
                    .extracting(LockHolder::claimId, LockHolder::kind)
                    .containsExactly(tupleOf(writer, LockKind.WRITE));
        }
    }

    private static Tuple tupleOf(Contender contender, LockKind kind) {
        return tuple(contender.claim().id(), kind);
    }

    @Needs({Need.HOLDERS, Need.SEMAPHORE})
    default void eachPermitHasAHolder() {
        try (Contest contest = new Contest(this)) {
            List<Contender> holders = List.of(
                    contest.permit(3, Waiting.NONE), contest.permit(3, Waiting.NONE), contest.permit(3, Waiting.NONE));
            List<Long> tokens = holders.stream().map(Contender::mustAcquire).toList();
            List<LockHolder> reported = holders(contest, LockKind.SEMAPHORE);
            assertThat(reported)
                    .extracting(LockHolder::claimId)
                    .containsExactlyElementsOf(
                            holders.stream().map(it -> it.claim().id()).toList());
            assertThat(reported).extracting(LockHolder::fencingToken).containsExactlyElementsOf(tokens);
            assertThat(reported).extracting(LockHolder::kind).containsOnly(LockKind.SEMAPHORE);
        }
    }

    @Needs(Need.HOLDERS)
    default void locksOfOtherKindsAndNamesHaveOtherHolders() {
        try (Contest contest = new Contest(this)) {
            contest.holder();
            LockKey otherName = LockKey.of(LockKind.MUTEX, contest.name() + "/other");
            assertThat(contest.answer(backend().holders(otherName).collectList()))
                    .isEmpty();
            assertThat(holders(contest, LockKind.READ)).isEmpty();
            assertThat(holders(contest, LockKind.SEMAPHORE)).isEmpty();
        }
    }
}
