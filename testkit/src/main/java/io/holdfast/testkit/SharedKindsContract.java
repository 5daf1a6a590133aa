package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Read/write locks and semaphores. */
interface SharedKindsContract extends LockBackendUnderTest {

    @Needs(Need.READ_WRITE)
    default void readersShareAndKeepWritersOut() {
        try (Contest contest = new Contest(this)) {
            Contender reader = contest.of(LockKind.READ, Waiting.NONE);
            Contender another = contest.of(LockKind.READ, Waiting.NONE);
            reader.mustAcquire();
            another.mustAcquire();
            contest.of(LockKind.WRITE, Waiting.NONE).mustBeRefused();
            reader.release();
            contest.of(LockKind.WRITE, Waiting.NONE).mustBeRefused();
            another.release();
            contest.of(LockKind.WRITE, Waiting.NONE).mustAcquire();
        }
    }

    @Needs(Need.READ_WRITE)
    default void writerKeepsAllOut() {
        try (Contest contest = new Contest(this)) {
            Contender writer = contest.of(LockKind.WRITE, Waiting.NONE);
            writer.mustAcquire();
            contest.of(LockKind.READ, Waiting.NONE).mustBeRefused();
            contest.of(LockKind.WRITE, Waiting.NONE).mustBeRefused();
            assertThat(writer.release()).isEqualTo(Ownership.HELD);
            contest.of(LockKind.READ, Waiting.NONE).mustAcquire();
        }
    }

    @Needs(Need.READ_WRITE)
    default void eachReaderAndWriterHasItsOwnRisingToken() {
        try (Contest contest = new Contest(this)) {
            Contender reader = contest.of(LockKind.READ, Waiting.NONE);
            Contender another = contest.of(LockKind.READ, Waiting.NONE);
            long first = reader.mustAcquire();
            long second = another.mustAcquire();
            assertThat(second).isGreaterThan(first);
            reader.release();
            another.release();
            assertThat(contest.of(LockKind.WRITE, Waiting.NONE).mustAcquire()).isGreaterThan(second);
        }
    }

    @Needs({Need.READ_WRITE, Need.FIFO})
    default void queuedWriterHoldsBackLaterReaders() {
        try (Contest contest = new Contest(this)) {
            Contender reader = contest.of(LockKind.READ, Waiting.NONE);
            reader.mustAcquire();
            Contender writer =
                    contest.queued(contest.of(LockKind.WRITE, Waiting.QUEUE).watching());
            contest.of(LockKind.READ, Waiting.NONE).mustBeRefused();
            Contender later =
                    contest.queued(contest.of(LockKind.READ, Waiting.QUEUE).watching());
            reader.release();
            writer.mustBeGranted();
            later.mustNotHold();
            writer.release();
            later.mustBeGranted();
        }
    }

    @Needs({Need.READ_WRITE, Need.FIFO})
    default void readersInFrontAreGrantedTogether() {
        try (Contest contest = new Contest(this)) {
            Contender writer = contest.of(LockKind.WRITE, Waiting.NONE);
            writer.mustAcquire();
            Contender first =
                    contest.queued(contest.of(LockKind.READ, Waiting.QUEUE).watching());
            Contender second =
                    contest.queued(contest.of(LockKind.READ, Waiting.QUEUE).watching());
            Contender behind =
                    contest.queued(contest.of(LockKind.WRITE, Waiting.QUEUE).watching());
            writer.release();
            first.mustBeGranted();
            second.mustBeGranted();
            behind.mustNotHold();
        }
    }

    @Needs({Need.READ_WRITE, Need.FIFO})
    default void withdrawnWriterLetsTheReadersBehindItPass() {
        try (Contest contest = new Contest(this)) {
            contest.of(LockKind.READ, Waiting.NONE).mustAcquire();
            Contender writer =
                    contest.queued(contest.of(LockKind.WRITE, Waiting.QUEUE).watching());
            Contender behind =
                    contest.queued(contest.of(LockKind.READ, Waiting.QUEUE).watching());
            writer.release();
            behind.mustBeGranted();
        }
    }

    @Needs(Need.SEMAPHORE)
    default void semaphoreIsHeldByAsManyAsItHasPermits() {
        try (Contest contest = new Contest(this)) {
            Set<Long> tokens = new TreeSet<>();
            Contender last = contest.permit(3, Waiting.NONE);
            tokens.add(last.mustAcquire());
            tokens.add(contest.permit(3, Waiting.NONE).mustAcquire());
            tokens.add(contest.permit(3, Waiting.NONE).mustAcquire());
            assertThat(tokens).as("a token for each permit").hasSize(3);
            contest.permit(3, Waiting.NONE).mustBeRefused();
            last.release();
            contest.permit(3, Waiting.NONE).mustAcquire();
        }
    }

    @Needs(Need.SEMAPHORE)
    default void semaphoreClaimIsJudgedByItsOwnPermits() {
        try (Contest contest = new Contest(this)) {
            contest.permit(2, Waiting.NONE).mustAcquire();
            contest.permit(2, Waiting.NONE).mustAcquire();
            contest.permit(2, Waiting.NONE).mustBeRefused();
            contest.permit(3, Waiting.NONE).mustAcquire();
            contest.permit(1, Waiting.NONE).mustBeRefused();
        }
    }

    @Needs({Need.SEMAPHORE, Need.FIFO})
    default void freedPermitComesToTheFirstWaiter() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.permit(2, Waiting.NONE);
            holder.mustAcquire();
            contest.permit(2, Waiting.NONE).mustAcquire();
            Contender first = contest.queued(contest.permit(2, Waiting.QUEUE).watching());
            Contender second = contest.queued(contest.permit(2, Waiting.QUEUE).watching());
            holder.release();
            first.mustBeGranted();
            second.mustNotHold();
        }
    }

    @Test
    default void kindsOfOneNameAreDifferentLocks() {
        try (Contest contest = new Contest(this)) {
            contest.holder();
            if (backend().features().contains(LockFeature.READ_WRITE)) {
                contest.of(LockKind.WRITE, Waiting.NONE).mustAcquire();
            }
            if (backend().features().contains(LockFeature.SEMAPHORE)) {
                contest.permit(1, Waiting.NONE).mustAcquire();
            }
            contest.contender().mustBeRefused();
        }
    }
}
