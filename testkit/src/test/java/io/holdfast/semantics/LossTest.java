package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.MOMENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.WatchSignal;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

class LossTest {

    /** The safety margin is 1 % and 2 ms. */
    private static final Duration VALIDITY = LEASE.minusMillis(302);

    private static final Duration CONFIRMATION = Duration.ofMillis(50);

    @RegisterExtension
    final World world = new World();

    @Test
    void aHeldLeaseIsRenewedAtAThirdOfItsDuration() {
        LockLease lease = world.granted(world.lock().acquire());
        world.pass(LEASE.dividedBy(3));
        assertThat(world.on(Operation.RENEW).calls()).isOne();

        world.pass(LEASE.multipliedBy(10));

        assertThat(lease.isValid()).isTrue();
        assertThat(world.on(Operation.RENEW).calls()).isBetween(30, 35);
        world.subscribe(lease.release());
    }

    @Test
    void aDeletedLockIsALossWithinOneRenewalPeriod() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        world.takeAway(World.NAME);
        LockLease foreign = world.granted(world.rivalLock().tryAcquire());

        world.pass(LEASE.dividedBy(3));

        assertThat(loss.getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(world.events(LockEvent.Lost.class)).hasSize(1);
        assertThat(foreign.isValid()).isTrue();
        assertThat(world.store.contents()).anyMatch(line -> line.contains("token " + foreign.fencingToken()));
    }

    @Test
    void theLocalDeadlinePassesWithoutAConfirmedRenewalNotLater() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        world.on(Operation.RENEW).always(Fault.lostRequest());

        world.pass(VALIDITY.minus(MOMENT));
        assertThat(lease.isValid()).isTrue();
        assertThat(loss.getReceivedOnNext()).isEmpty();
        world.pass(MOMENT);

        assertThat(lease.isValid()).isFalse();
        assertThat(loss.getReceivedOnNext()).containsExactly(LossReason.EXPIRED);
        assertThat(world.store.contents())
                .as("and released, if the back end is reachable")
                .isEmpty();
    }

    @Test
    void anUnknownRenewalIsRepeatedUntilTheDeadlineAndALeaseThatIsConfirmedInTimeSurvives() {
        LockLease lease = world.granted(world.lock().acquire());
        world.on(Operation.RENEW).always(Fault.lostRequest());
        world.pass(VALIDITY.minusSeconds(3));
        assertThat(world.on(Operation.RENEW).calls()).isGreaterThan(10);
        world.on(Operation.RENEW).none();

        world.pass(LEASE);

        assertThat(lease.isValid()).isTrue();
        assertThat(world.events(LockEvent.RenewalFailed.class)).hasSizeGreaterThan(10);
    }

    @Test
    void anAnswerAfterTheDeadlineDoesNotBringALeaseBack() {
        LockLease lease = world.granted(world.lock().acquire());
        world.on(Operation.RENEW).always(Fault.lostRequest());
        world.pass(VALIDITY.minusMillis(1500));
        world.on(Operation.RENEW).always(Fault.delayedReply(Duration.ofMillis(1900)));

        world.pass(Duration.ofSeconds(3));

        assertThat(lease.isValid()).isFalse();
        world.pass(LEASE);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void validityIsExactAlsoBeforeTheTimerRuns() {
        LockLease lease = world.granted(world.lock(o -> o.autoRenew(false)).acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());

        world.pass(VALIDITY);

        assertThat(lease.isValid()).isFalse();
        assertThat(loss.getReceivedOnNext()).containsExactly(LossReason.EXPIRED);
        assertThat(world.on(Operation.RENEW).calls()).isZero();
    }

    @Test
    void onLossReplaysAndCompletesEmptyAfterTheRelease() {
        LockLease released = world.granted(world.lock().acquire());
        TestSubscriber<LossReason> before = world.subscribe(released.onLoss());
        world.subscribe(released.release());
        assertThat(before.isTerminatedComplete()).isTrue();
        assertThat(before.getReceivedOnNext()).isEmpty();
        assertThat(world.subscribe(released.onLoss()).isTerminatedComplete()).isTrue();

        LockLease lost = world.granted(world.lock().acquire());
        world.takeAway(World.NAME);
        world.pass(LEASE.dividedBy(3));
        assertThat(world.subscribe(lost.onLoss()).getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
    }

    @Test
    void releaseAndRenewAfterALossFail() {
        LockLease lease = world.granted(world.lock().acquire());
        world.takeAway(World.NAME);
        world.pass(LEASE.dividedBy(3));

        assertThat(world.subscribe(lease.release()).expectTerminalError())
                .asInstanceOf(type(LockLostException.class))
                .satisfies(lost -> {
                    assertThat(lost.reason()).isEqualTo(LossReason.NOT_HELD);
                    assertThat(lost.fencingToken()).isEqualTo(lease.fencingToken());
                });
        assertThat(world.subscribe(lease.renew()).expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void renewExtendsNowAndDetectsALoss() {
        LockLease lease = world.granted(world.lock(o -> o.autoRenew(false)).acquire());
        world.pass(LEASE.dividedBy(2));
        assertThat(world.subscribe(lease.renew()).isTerminatedComplete()).isTrue();
        assertThat(lease.remaining()).isEqualTo(VALIDITY);

        world.takeAway(World.NAME);
        assertThat(world.subscribe(lease.renew()).expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void releaseIsLazyIdempotentAndShared() {
        LockLease lease = world.granted(world.lock().acquire());
        var release = lease.release();
        assertThat(world.on(Operation.RELEASE).calls()).isZero();

        assertThat(world.subscribe(release).isTerminatedComplete()).isTrue();
        assertThat(world.subscribe(release).isTerminatedComplete()).isTrue();
        assertThat(world.subscribe(lease.release()).isTerminatedComplete()).isTrue();

        assertThat(world.on(Operation.RELEASE).calls()).isOne();
    }

    @Test
    void noRenewalIsSentAfterTheReleaseWasRequested() {
        LockLease lease = world.granted(world.lock().acquire());
        world.on(Operation.RELEASE).always(Fault.lostRequest());
        world.subscribe(lease.release());
        assertThat(lease.isValid()).isFalse();

        world.pass(LEASE.multipliedBy(2));

        assertThat(world.on(Operation.RENEW).calls()).isZero();
    }

    @Test
    void theLongestHoldTimeIsAHardBound() {
        LockLease lease = world.granted(
                world.lock(o -> o.maxHoldTime(LEASE.multipliedBy(2))).acquire());
        world.pass(LEASE.multipliedBy(2).minus(MOMENT));
        assertThat(lease.isValid()).isTrue();

        world.pass(MOMENT);

        assertThat(world.subscribe(lease.onLoss()).getReceivedOnNext()).containsExactly(LossReason.MAX_HOLD_TIME);
        assertThat(world.store.contents()).as("released, not left to expire").isEmpty();
    }

    @Test
    void aPushedGrantIsConfirmedSoonAlsoWithoutAutomaticRenewal() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter =
                world.subscribe(world.lock(o -> o.autoRenew(false)).acquire());
        world.pass(Duration.ofSeconds(1));
        world.subscribe(holder.release());

        assertThat(world.only(waiter).remaining()).as("a claim time").isLessThanOrEqualTo(Duration.ofSeconds(2));
        world.pass(CONFIRMATION);
        assertThat(world.only(waiter).remaining()).isEqualTo(VALIDITY);
        assertThat(world.on(Operation.RENEW).calls()).isOne();
        world.pass(LEASE);
        assertThat(world.on(Operation.RENEW).calls()).isOne();
    }

    @Test
    void aPushedGrantThatIsReleasedSoonIsNotConfirmed() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.lock().acquire());
        world.subscribe(holder.release());

        world.subscribe(world.only(waiter).release());

        world.pass(LEASE);
        assertThat(world.on(Operation.RENEW).calls()).isZero();
    }

    @Test
    void aPushedGrantThatIsNotConfirmedIsLostAfterTheClaimTime() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.lock().acquire());
        world.on(Operation.RENEW).always(Fault.lostRequest());
        world.pass(Duration.ofSeconds(1));
        world.subscribe(holder.release());
        LockLease lease = world.only(waiter);
        assertThat(lease.isValid()).isTrue();

        world.pass(Duration.ofSeconds(2));

        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void aGrantThatComesTooLateIsNotEmittedButTriedAgain() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.lock().acquire());
        world.faulty.loseSignals(World::isGrant);
        world.subscribe(holder.release());
        assertThat(waiter.getReceivedOnNext()).isEmpty();

        world.pass(Duration.ofSeconds(2));

        assertThat(world.only(waiter).remaining()).isEqualTo(VALIDITY);
    }

    /** The attempt may reach the back end after the loss, and take the lock again for a claim that is over. */
    @Test
    void aLossBeforeTheAnswerToAnAttemptReleasesWhatThatAttemptMayTake() {
        ScriptedStore store = new ScriptedStore();
        store.answer(new LockAttempt.Queued(Duration.ofSeconds(1)));
        LockClient client = LockClient.builder(store).timer(world.clock).build();
        TestSubscriber<Object> work = world.subscribe(client.lock("a").withLock(Mono.never()));
        store.onAttempt = claim -> Mono.never();
        world.pass(Duration.ofSeconds(1));
        assertThat(store.attempts).hasValue(2);

        store.signals.emitNext(new WatchSignal.Granted(7, 1, LEASE), Sinks.EmitFailureHandler.FAIL_FAST);
        store.signals.emitNext(new WatchSignal.Lost(LossReason.NOT_HELD), Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(work.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(store.released).containsExactly("a");
        world.subscribe(client.close());
    }
}
