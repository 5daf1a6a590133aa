package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

class CloseTest {

    @RegisterExtension
    final World world = new World();

    @Test
    void closingBeginsAtTheCallAndNotAtTheSubscription() {
        LockLease lease = world.granted(world.lock().acquire());

        Mono<Void> ignored = world.client.close();

        assertThat(lease.isValid()).isFalse();
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
        assertThat(world.store.contents()).isEmpty();
        assertThat(world.subscribe(world.lock().acquire()).expectTerminalError())
                .isInstanceOf(LockClosedException.class);
        assertThat(world.subscribe(ignored).isTerminatedComplete()).isTrue();
    }

    @Test
    void closingAgainClosesNothingAgain() {
        world.granted(world.lock().acquire());
        Mono<Void> close = world.client.close();

        assertThat(world.subscribe(close).isTerminatedComplete()).isTrue();
        assertThat(world.subscribe(close).isTerminatedComplete()).isTrue();
        assertThat(world.subscribe(world.client.close()).isTerminatedComplete()).isTrue();
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
    }

    @Test
    void waitersEndWithClosedAndLeaveNoPlaceInTheQueue() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.lock().acquire());

        world.subscribe(world.client.close());

        assertThat(waiter.expectTerminalError())
                .isInstanceOf(LockClosedException.class)
                .hasMessageContaining(World.NAME);
        world.subscribe(holder.release());
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void leasesEndWithClientClosedAndAreReleased() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        TestSubscriber<Object> working =
                world.subscribe(world.client.lock("other").withLock(Mono.never()));

        assertThat(world.subscribe(world.client.close()).isTerminatedComplete()).isTrue();

        assertThat(loss.getReceivedOnNext()).containsExactly(LossReason.CLIENT_CLOSED);
        assertThat(working.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aHolderGetsTheLossBeforeTheLockIsReleased() {
        LockLease lease = world.granted(world.lock().acquire());
        List<Integer> releasesWhenTold = new ArrayList<>();
        Disposable unused = lease.onLoss()
                .subscribe(reason ->
                        releasesWhenTold.add(world.on(Operation.RELEASE).calls()));

        world.subscribe(world.client.close());

        assertThat(releasesWhenTold).containsExactly(0);
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
    }

    @Test
    void anAttemptInFlightIsAwaitedAndWithdrawn() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(Duration.ofMillis(500)));
        TestSubscriber<LockLease> acquiring = world.subscribe(world.lock().acquire());
        TestSubscriber<Void> closing = world.subscribe(world.client.close());
        assertThat(acquiring.expectTerminalError()).isInstanceOf(LockClosedException.class);
        assertThat(closing.isTerminated()).isFalse();

        world.pass(Duration.ofMillis(500));

        assertThat(closing.isTerminatedComplete()).isTrue();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void closingWaitsForABoundedTimeOnly() {
        world.granted(world.lock().acquire());
        world.on(Operation.RELEASE).always(Fault.lostRequest().silently());
        TestSubscriber<Void> closing = world.subscribe(world.client.close());
        world.pass(OPERATION_TIMEOUT.minusMillis(1));
        assertThat(closing.isTerminated()).isFalse();

        world.pass(Duration.ofMillis(1));

        assertThat(closing.isTerminatedComplete()).isTrue();
        assertThat(world.client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
        world.pass(LEASE);
    }

    @Test
    void aBackEndThatDoesNotCloseDelaysTheEndForABoundedTimeOnly() {
        LockClient over = LockClient.builder(new NeverCloses(world.store))
                .timer(world.clock)
                .build();
        TestSubscriber<Void> closing = world.subscribe(over.close());

        world.pass(Duration.ofSeconds(5).minusMillis(1));
        assertThat(closing.isTerminated()).isFalse();
        world.pass(Duration.ofMillis(1));

        assertThat(closing.isTerminatedComplete()).isTrue();
    }

    private record NeverCloses(LockBackend delegate) implements ForwardingLockBackend {

        @Override
        public Mono<Void> close() {
            return Mono.never();
        }
    }

    @Test
    void afterClosingNothingCanBeAcquiredOrPinged() {
        world.subscribe(world.client.close());

        assertThat(world.subscribe(world.lock().acquire()).expectTerminalError())
                .isInstanceOf(LockClosedException.class);
        assertThat(world.subscribe(world.lock().tryAcquire()).expectTerminalError())
                .isInstanceOf(LockClosedException.class);
        assertThat(world.subscribe(world.client.ping()).expectTerminalError()).isInstanceOf(LockClosedException.class);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isZero();
    }

    @Test
    void theBackEndIsClosedWithItsClientUnlessCloseBackendIsFalse() {
        LockClient borrowing = world.client(builder -> builder.closeBackend(false));
        world.subscribe(borrowing.close());
        assertThat(world.subscribe(world.client.ping()).isTerminatedComplete()).isTrue();

        LockClient owning = world.client(builder -> builder.closeBackend(true));
        world.subscribe(owning.close());
        assertThat(world.subscribe(world.client.ping()).expectTerminalError()).isInstanceOf(LockBackendException.class);
    }

    @Test
    void pingUnderWayAtCloseSaysThatTheClientWasClosed() {
        world.on(Operation.PING).next(Fault.lostRequest().silently());
        TestSubscriber<Void> ping = world.subscribe(world.client.ping());

        world.subscribe(world.client.close());

        assertThat(ping.expectTerminalError()).isInstanceOf(LockClosedException.class);
    }

    @Test
    void pingFailsWhenTheBackEndDoesNotAnswerInTime() {
        assertThat(world.subscribe(world.client.ping()).isTerminatedComplete()).isTrue();
        world.on(Operation.PING).next(Fault.lostRequest().silently());
        TestSubscriber<Void> ping = world.subscribe(world.client.ping());

        world.pass(OPERATION_TIMEOUT);

        assertThat(ping.expectTerminalError()).isInstanceOf(LockBackendException.class);
    }
}
