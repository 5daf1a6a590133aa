package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.scheduler.Scheduler;
import reactor.test.subscriber.TestSubscriber;

/** The same thread does here, at exact points of an attempt, what another thread may do there. */
class AttemptRacesTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();
    private final Five.Client rival = five.client();
    private final TestSubscriber<LockAttempt> second = TestSubscriber.create();
    private final LockClaim claim = Five.claim(Five.NAME, Waiting.NOTIFY);

    /** Run once, when the deadline of a poll is removed: its last answer has been taken, but not counted. */
    private Runnable whenAllAnswered = () -> {};

    private final RedlockBackend backend = RedlockBackend.builder(client.wires)
            .timer(new Interrupted())
            .closeMasters(false)
            .build();

    private final class Interrupted implements Scheduler {

        @Override
        public Disposable schedule(Runnable task) {
            return five.time.schedule(task);
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            return Disposables.composite(five.time.schedule(task, delay, unit), () -> {
                Runnable interruption = whenAllAnswered;
                whenAllAnswered = () -> {};
                interruption.run();
            });
        }

        @Override
        public long now(TimeUnit unit) {
            return five.time.now(unit);
        }

        @Override
        public Worker createWorker() {
            return five.time.createWorker();
        }
    }

    private void attemptAgain() {
        backend.tryAcquire(claim.withAttempt(2)).subscribe(second);
    }

    private void releaseAll() {
        client.up();
        assertThat(five.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        five.pass(Duration.ofSeconds(5));
        assertThat(backend.releaseCount()).isZero();
    }

    @Test
    void lateYesOfALostAttemptIsNotUndoneAtTheCostOfTheNextAttempt() {
        rival.down(4, 5);
        LockClaim held = Five.claim();
        rival.mustAcquire(held);
        client.roundTrip(5, Duration.ofMillis(100));
        assertThat(five.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Contended.class);
        rival.up();
        five.answer(rival.backend.release(held));
        client.up();
        client.hung(1, 2); // so that each of the other three votes is needed
        whenAllAnswered = this::attemptAgain;
        five.passMillis(110);
        assertThat(second.getReceivedOnNext()).hasSize(1).first().isInstanceOf(LockAttempt.Acquired.class);
        assertThat(five.holding()).containsExactly(3, 4, 5);
        assertThat(rival.attempt(Five.claim())).as("no second holder").isInstanceOf(LockAttempt.Contended.class);
        releaseAll();
    }

    @Test
    void attemptThatIsCancelledWhileItIsBeingSentLeavesTheNextOneAlone() {
        TestSubscriber<LockAttempt> first = TestSubscriber.create();
        client.wires.get(2).fateOfRequest = () -> {
            client.wires.get(2).fateOfRequest = () -> Wire.Fate.ARRIVES;
            first.cancel();
            attemptAgain();
            return Wire.Fate.ARRIVES;
        };
        backend.tryAcquire(claim).subscribe(first);
        five.passMillis(10);
        assertThat(second.getReceivedOnNext()).hasSize(1).first().isInstanceOf(LockAttempt.Acquired.class);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        releaseAll();
    }
}
