package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** A loss explains itself in one message that needs no other log line. */
class LossMessageTest {

    @RegisterExtension
    final World world = new World();

    private Throwable lossOf(UnaryOperator<LockOptions.Builder> options) {
        TestSubscriber<Object> result = world.subscribe(world.lock(options).withLock(Mono.never()));
        world.pass(LEASE.multipliedBy(2));
        return result.expectTerminalError();
    }

    @Test
    void aDeadlineThatPassedCarriesTheErrorOfTheLastRenewal() {
        world.on(Operation.RENEW).always(Fault.refused());

        Throwable lost = lossOf(options -> options);

        assertThat(lost)
                .hasMessageContainingAll("deadline passed", "the last renewal failed: injected fault")
                .hasMessageNotContaining("hold time");
        assertThat(lost.getCause()).isInstanceOf(LockBackendException.class);
    }

    @Test
    void aLossByTheLongestHoldTimeNamesTheLimit() {
        Throwable lost = lossOf(options -> options.maxHoldTime(LEASE));

        assertThat(lost)
                .hasMessageContainingAll("longest hold time", "30000 ms", "maxHoldTime")
                .hasMessageNotContaining("deadline")
                .hasNoCause();
    }

    @Test
    void aLossByTheLongestHoldTimeNamesNoEarlierError() {
        world.on(Operation.RENEW).next(Fault.refused());

        assertThat(lossOf(options -> options.maxHoldTime(LEASE))).hasNoCause();
    }

    @Test
    void aDeadlineWithoutAutomaticRenewalSaysThatNothingRenewedIt() {
        assertThat(lossOf(options -> options.autoRenew(false)))
                .hasMessageContainingAll("deadline passed", "autoRenew is off")
                .hasNoCause();
    }

    /** A signal causes its renewals, shortly before the deadline. */
    private Throwable lossWhenRenewalsAre(List<Mono<Renewal>> answers) {
        ScriptedStore store = new ScriptedStore();
        Iterator<Mono<Renewal>> next = answers.iterator();
        store.onRenewal = claim -> next.next();
        store.onBatch = claims -> next.next().flux();
        LockClient client = LockClient.builder(store).timer(world.clock).build();
        LockOptions options =
                LockOptions.builder().leaseDuration(LEASE).autoRenew(false).build();
        TestSubscriber<Object> work =
                world.subscribe(client.lock("a").with(options).withLock(Mono.never()));
        world.pass(LEASE.minusSeconds(1));
        store.changed();
        world.pass(Duration.ofSeconds(1));
        assertThat(store.batches).hasSameSizeAs(answers);
        Throwable loss = work.expectTerminalError();
        world.subscribe(client.close());
        return loss;
    }

    @Test
    void aLossNamesARenewalThatIsUnansweredAtTheDeadline() {
        assertThat(lossWhenRenewalsAre(List.of(Mono.never())))
                .hasMessageContainingAll("deadline passed", "a renewal was not answered by then")
                .hasMessageNotContaining("autoRenew")
                .hasNoCause();
    }

    @Test
    void aLossNamesAnUnansweredRenewalAndTheFailureBeforeIt() {
        LockBackendException failure = new LockBackendException("a", "the store was busy", true, null);

        assertThat(lossWhenRenewalsAre(List.of(Mono.error(failure), Mono.never())))
                .hasMessageContainingAll(
                        "the last renewal was not answered by then", "before failed: the store was busy")
                .hasCause(failure);
    }

    @Test
    void aServedWaiterThatDoesNotRunInTimeSaysThatItsLeaseWasYoung() {
        ScriptedStore store = new ScriptedStore();
        store.answer(new LockAttempt.Queued(Duration.ofSeconds(10)));
        LateTimer timer = new LateTimer();
        LockClient client = LockClient.builder(store).timer(timer).build();
        TestSubscriber<Object> work = world.subscribe(client.lock("a").withLock(Mono.never()));
        store.signals.emitNext(
                new WatchSignal.Granted(7, 1, Duration.ofSeconds(2)), Sinks.EmitFailureHandler.FAIL_FAST);

        timer.advance(Duration.ofSeconds(3));

        assertThat(work.expectTerminalError())
                .hasMessageContainingAll("deadline passed", "to confirm the grant", "overloaded");
        world.subscribe(client.close());
    }

    @Test
    void theEventSaysTheSame() {
        world.on(Operation.RENEW).always(Fault.refused());
        lossOf(options -> options);

        assertThat(world.events(LockEvent.Lost.class))
                .singleElement()
                .satisfies(lost -> assertThat(lost.error())
                        .hasMessageContaining("the last renewal failed")
                        .hasCauseInstanceOf(LockBackendException.class));
    }

    @Test
    void renewingWhatWasReleasedSaysThatItWasReleased() {
        LockLease lease = world.granted(world.lock().acquire());
        world.subscribe(lease.release());

        assertThat(world.subscribe(lease.renew()).expectTerminalError())
                .hasMessageContaining("released before")
                .hasMessageNotContaining("the back end says");
    }
}
