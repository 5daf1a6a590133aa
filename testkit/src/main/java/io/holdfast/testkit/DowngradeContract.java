package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.util.List;

/** A writer becomes a reader, with no other writer in between; a reader never becomes a writer. */
interface DowngradeContract extends LockBackendUnderTest {

    private static Contender writer(Contest contest) {
        return contest.of(LockKind.WRITE, Waiting.NONE);
    }

    private static Contender reader(Contest contest) {
        return contest.of(LockKind.READ, Waiting.NONE);
    }

    private static Contender waiting(Contest contest, LockKind kind) {
        return contest.queued(contest.of(kind, Waiting.QUEUE).watching());
    }

    @Needs(Need.DOWNGRADE)
    default void writerThatBecomesAReaderKeepsItsToken() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            long token = writer.mustAcquire();
            reader(contest).mustBeRefused();
            assertThat(Contender.token(writer.attemptAs(LockKind.READ))).isEqualTo(token);
            writer.mustHold();
            assertThat(reader(contest).mustAcquire()).isGreaterThan(token);
            writer(contest).mustBeRefused();
        }
    }

    @Needs(Need.DOWNGRADE)
    default void repeatedDowngradeHasTheEffectOfOne() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            long token = writer.mustAcquire();
            assertThat(Contender.token(writer.attemptAs(LockKind.READ))).isEqualTo(token);
            assertThat(Contender.token(writer.attemptAs(writer.claim().attempt())))
                    .isEqualTo(token);
            assertThat(Contender.token(writer.attemptAs(LockKind.READ))).isEqualTo(token);
            assertThat(Contender.token(writer.attemptAs(2))).as("came late").isEqualTo(token);
            reader(contest).mustAcquire();
            writer(contest).mustBeRefused();
        }
    }

    @Needs(Need.DOWNGRADE)
    default void formerWriterIsRenewedAndReleasedAsAReader() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            long token = writer.mustAcquire();
            writer.attemptAs(LockKind.READ);
            Contender another = reader(contest);
            another.mustAcquire();
            writer.mustHold();
            assertThat(writer.release()).isEqualTo(Ownership.HELD);
            writer.mustNotHold();
            another.mustHold();
            writer(contest).mustBeRefused();
            another.release();
            assertThat(writer(contest).mustAcquire()).isGreaterThan(token);
        }
    }

    @Needs({Need.DOWNGRADE, Need.MIN_HOLD})
    default void formerWriterEndsWithItsLease() {
        try (Contest contest = new Contest(this)) {
            Contender writer = contest.enter(
                    backend(), LockKey.of(LockKind.WRITE, contest.name()), lease().multipliedBy(2), Waiting.NONE);
            writer.mustAcquire();
            passTime(lease());
            writer.attemptAs(LockKind.READ);
            passTime(lease().plus(lease().dividedBy(3)));
            writer(contest).mustBeRefused();
            makeExpire(writer.claim());
            writer(contest).mustAcquire();
            writer.mustNotHold();
        }
    }

    @Needs({Need.DOWNGRADE, Need.HAND_ON})
    default void adoptedWriterBecomesAReader() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            long token = writer.mustAcquire();
            assertThat(contest.answer(anotherClient().adopt(writer.claim(), token)))
                    .isInstanceOf(Renewal.Held.class);
            LockClaim reading = writer.asKind(LockKind.READ, writer.claim().attempt() + 1);
            assertThat(Contender.token(contest.answer(anotherClient().tryAcquire(reading))))
                    .isEqualTo(token);
            assertThat(reader(contest).mustAcquire()).isGreaterThan(token);
            writer(contest).mustBeRefused();
            assertThat(contest.answer(anotherClient().release(reading))).isEqualTo(Ownership.HELD);
        }
    }

    @Needs({Need.DOWNGRADE, Need.FIFO})
    default void waitingWriterStaysOutUntilTheFormerWriterIsReleased() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            long token = writer.mustAcquire();
            Contender next = waiting(contest, LockKind.WRITE);
            writer.attemptAs(LockKind.READ);
            next.mustNotHold();
            reader(contest).mustBeRefused(); // it would overtake the waiting writer
            next.mustQueue();
            assertThat(writer.release()).isEqualTo(Ownership.HELD);
            assertThat(next.mustBeGranted()).isGreaterThan(token);
        }
    }

    @Needs({Need.DOWNGRADE, Need.FIFO})
    default void readersAtTheHeadJoinTheFormerWriterAndThoseBehindAWriterDoNot() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            long token = writer.mustAcquire();
            Contender first = waiting(contest, LockKind.READ);
            Contender second = waiting(contest, LockKind.READ);
            Contender nextWriter = waiting(contest, LockKind.WRITE);
            Contender behind = waiting(contest, LockKind.READ);
            writer.attemptAs(LockKind.READ);
            for (Contender joins : List.of(first, second)) {
                assertThat(pushesGrants() ? joins.mustBePushed().fencingToken() : joins.mustBeGranted())
                        .isGreaterThan(token);
                joins.mustHold();
            }
            nextWriter.mustNotHold();
            behind.mustNotHold();
            first.release();
            second.release();
            nextWriter.mustNotHold();
            writer.release();
            nextWriter.mustBeGranted();
            behind.mustNotHold();
        }
    }

    @Needs({Need.DOWNGRADE, Need.FIFO})
    default void readersOfAnotherClientJoinToo() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            writer.mustAcquire();
            LockKey key = LockKey.of(LockKind.READ, contest.name());
            Contender first = contest.queued(contest.enter(anotherClient(), key, Contest.LONG, Waiting.QUEUE)
                    .watching());
            Contender second = contest.queued(contest.enter(anotherClient(), key, Contest.LONG, Waiting.QUEUE)
                    .watching());
            writer.attemptAs(LockKind.READ);
            for (Contender joins : List.of(first, second)) {
                joins.mustBeGranted();
            }
            contest.enter(anotherClient(), key, Contest.LONG, Waiting.NONE).mustAcquire();
            writer(contest).mustBeRefused();
        }
    }

    @Needs({Need.DOWNGRADE, Need.SIGNALS, Need.TOKEN_FLOOR})
    default void notifiedReaderGetsASignalOfTheDowngrade() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            writer.mustAcquire();
            Contender notified = contest.of(LockKind.READ, Waiting.NOTIFY).watching();
            notified.mustBeRefused();
            contest.armed(notified);
            notified.mustBeRefused();
            writer.attemptAs(LockKind.READ);
            notified.mustBeSignalled(WatchSignal.Changed.class);
            notified.mustAcquire();
        }
    }

    @Needs(Need.READ_WRITE)
    default void readerNeverBecomesAWriter() {
        try (Contest contest = new Contest(this)) {
            Contender reader = reader(contest);
            reader.mustAcquire();
            assertThat(contest.answer(backend().tryAcquire(reader.asKind(LockKind.WRITE, 2))))
                    .isInstanceOf(LockAttempt.Contended.class);
            Contender another = reader(contest);
            another.mustAcquire();
            another.release();
            reader.mustHold();
            assertThat(reader.release()).isEqualTo(Ownership.HELD);
            writer(contest).mustAcquire();
        }
    }

    @Needs(Need.DOWNGRADE)
    default void noLateRequestTurnsTheFormerWriterIntoAWriter() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            writer.mustAcquire();
            writer.attemptAs(LockKind.READ);
            contest.answer(backend().tryAcquire(writer.asKind(LockKind.WRITE, 1)));
            contest.answer(backend().renew(writer.asKind(LockKind.WRITE, 1)));
            Contender another = reader(contest);
            another.mustAcquire();
            another.release();
            contest.answer(backend().tryAcquire(writer.asKind(LockKind.WRITE, 9)));
            contest.answer(backend().renew(writer.asKind(LockKind.WRITE, 9)));
            reader(contest).mustAcquire();
            writer.mustHold();
        }
    }

    @Needs({Need.DOWNGRADE, Need.FIFO})
    default void downgradeAfterTheReleaseOfItsClaimTakesNothing() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            writer.mustAcquire();
            contest.answer(backend().release(writer.asKind(LockKind.WRITE, 2)));
            LockAttempt late = contest.answer(backend().tryAcquire(writer.asKind(LockKind.READ, 2)));
            assertThat(late).isNotInstanceOf(LockAttempt.Acquired.class);
            writer(contest).mustAcquire();
        }
    }

    @Needs(Need.DOWNGRADE)
    default void downgradeOfAClaimWithoutTheLockGrantsNothing() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            writer.mustAcquire();
            Contender stranger = writer(contest);
            stranger.mustBeRefused();
            assertThat(stranger.attemptAs(LockKind.READ)).isInstanceOf(LockAttempt.Contended.class);
            reader(contest).mustBeRefused();
            writer.mustHold();
            stranger.mustNotHold();
        }
    }

    @Needs({Need.DOWNGRADE, Need.HOLDERS})
    default void holdersReportTheFormerWriterAsAReader() {
        try (Contest contest = new Contest(this)) {
            Contender writer = writer(contest);
            long token = writer.mustAcquire();
            writer.attemptAs(LockKind.READ);
            List<LockHolder> reported = contest.answer(backend()
                    .holders(LockKey.of(LockKind.WRITE, contest.name()))
                    .collectList());
            assertThat(reported).extracting(LockHolder::kind).containsExactly(LockKind.READ);
            assertThat(reported).extracting(LockHolder::fencingToken).containsExactly(token);
        }
    }

    @Needs(Need.READ_WRITE)
    default void leaseContinuesAsAReadLease() {
        ManyLocksContract.withClients(this, clients -> {
            ReactiveReadWriteLock mine = clients.one().readWriteLock(clients.name());
            ReactiveReadWriteLock others = clients.other().readWriteLock(clients.name());
            LockLease writing = clients.answer(mine.writeLock().acquire());
            if (!backend().features().contains(LockFeature.DOWNGRADE)) {
                assertThatThrownBy(() -> clients.answer(writing.downgrade()))
                        .hasCauseInstanceOf(UnsupportedOperationException.class);
                assertThat(writing.isValid()).isTrue();
                assertThat(clients.answer(writing.release().thenReturn(true))).isTrue();
                return;
            }
            LockLease reading = clients.answer(writing.downgrade());
            assertThat(writing.isValid()).isFalse();
            assertThat(reading.isValid()).isTrue();
            assertThat(reading.fencingToken()).isEqualTo(writing.fencingToken());
            assertThat(clients.answer(others.writeLock().tryAcquire().hasElement()))
                    .isFalse();
            LockLease beside = clients.answer(others.readLock().acquire());
            assertThat(clients.answer(reading.renew().thenReturn(true))).isTrue();
            assertThat(clients.answer(reading.release().thenReturn(true))).isTrue();
            assertThat(clients.answer(beside.release().thenReturn(true))).isTrue();
            LockLease next = clients.answer(others.writeLock().acquire());
            assertThat(next.fencingToken()).isGreaterThan(reading.fencingToken());
            assertThat(clients.answer(next.release().thenReturn(true))).isTrue();
        });
    }
}
