package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Read/write locks and semaphores. */
interface SharedKindsContract extends LockBackendUnderTest {

    private void needs(LockFeature feature) {
        assumeTrue(backend().features().contains(feature), "needs " + feature);
    }

    private void needs(LockFeature one, LockFeature two) {
        needs(one);
        needs(two);
    }

    @Test
    default void readersShareAndKeepWritersOut() {
        needs(LockFeature.READ_WRITE);
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

    @Test
    default void writerKeepsAllOut() {
        needs(LockFeature.READ_WRITE);
        try (Contest contest = new Contest(this)) {
            Contender writer = contest.of(LockKind.WRITE, Waiting.NONE);
            writer.mustAcquire();
            contest.of(LockKind.READ, Waiting.NONE).mustBeRefused();
            contest.of(LockKind.WRITE, Waiting.NONE).mustBeRefused();
            assertThat(writer.release()).isEqualTo(Ownership.HELD);
            contest.of(LockKind.READ, Waiting.NONE).mustAcquire();
        }
    }

    @Test
    default void eachReaderAndWriterHasItsOwnRisingToken() {
        needs(LockFeature.READ_WRITE);
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

    @Test
    default void queuedWriterHoldsBackLaterReaders() {
        needs(LockFeature.READ_WRITE, LockFeature.FIFO);
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

    @Test
    default void readersInFrontAreGrantedTogether() {
        needs(LockFeature.READ_WRITE, LockFeature.FIFO);
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

    @Test
    default void withdrawnWriterLetsTheReadersBehindItPass() {
        needs(LockFeature.READ_WRITE, LockFeature.FIFO);
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

    @Test
    default void semaphoreIsHeldByAsManyAsItHasPermits() {
        needs(LockFeature.SEMAPHORE);
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

    @Test
    default void semaphoreClaimIsJudgedByItsOwnPermits() {
        needs(LockFeature.SEMAPHORE);
        try (Contest contest = new Contest(this)) {
            contest.permit(2, Waiting.NONE).mustAcquire();
            contest.permit(2, Waiting.NONE).mustAcquire();
            contest.permit(2, Waiting.NONE).mustBeRefused();
            contest.permit(3, Waiting.NONE).mustAcquire();
            contest.permit(1, Waiting.NONE).mustBeRefused();
        }
    }

    @Test
    default void freedPermitComesToTheFirstWaiter() {
        needs(LockFeature.SEMAPHORE, LockFeature.FIFO);
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
