package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.MultiLease;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

class AbandonedLeaseTest {

    @RegisterExtension
    final World world = new World();

    /**
     * Collects garbage until the witness is collected: an object that became unreachable before it is then collected
     * too.
     */
    private static void collectGarbage() {
        WeakReference<Object> witness = new WeakReference<>(new Object());
        BooleanSupplier gone = () -> witness.get() == null;
        for (int i = 0; i < 50 && !gone.getAsBoolean(); i++) {
            System.gc();
        }
        assertThat(gone.getAsBoolean()).isTrue();
    }

    private void acquireAndDrop(Mono<LockLease> acquire) {
        acquire.map(LockLease::fencingToken).subscribe();
    }

    @Test
    void aDroppedLeaseIsReleasedAtTheNextTickAndReported() {
        acquireAndDrop(world.lock().acquire());
        assertThat(world.store.contents()).isNotEmpty();
        collectGarbage();

        world.pass(LEASE.dividedBy(3));

        assertThat(world.events(LockEvent.LeaseAbandoned.class)).hasSize(1);
        assertThat(world.store.contents()).isEmpty();
        assertThat(world.on(Operation.RENEW).calls()).isZero();
        assertThat(world.events)
                .hasExactlyElementsOfTypes(
                        LockEvent.AcquireStarted.class, LockEvent.Acquired.class, LockEvent.LeaseAbandoned.class);
    }

    private static void dropTheFutureOf(Mono<LockLease> acquire) {
        Future<LockLease> unused = acquire.toFuture();
    }

    /** A future, like {@code block()}, keeps its value. */
    @Test
    void aLeaseThatIsDroppedWithTheSubscriberThatKeepsItIsReleased() {
        dropTheFutureOf(world.lock().acquire());
        collectGarbage();

        world.pass(LEASE.dividedBy(3));

        assertThat(world.events(LockEvent.LeaseAbandoned.class)).hasSize(1);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void anAbandonedLeaseThatCannotBeReleasedIsReported() {
        acquireAndDrop(world.lock().acquire());
        collectGarbage();
        world.on(Operation.RELEASE).next(Fault.refused());

        world.pass(LEASE.dividedBy(3));

        assertThat(world.events(LockEvent.WithdrawalUnconfirmed.class)).hasSize(1);
        world.pass(LEASE);
    }

    @Test
    void aLeaseThatAnOperatorDropsIsReleased() {
        Mono.zip(world.lock().acquire(), Mono.error(new IllegalStateException("lost")))
                .subscribe(pair -> {}, error -> {});
        collectGarbage();

        world.pass(LEASE.dividedBy(3));

        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aSubscriberToTheLossKeepsTheLeaseFromBeingAbandoned() {
        TestSubscriber<LossReason> waiting = TestSubscriber.create();
        world.lock().acquire().flatMap(LockLease::onLoss).subscribe(waiting);
        collectGarbage();

        world.pass(LEASE);

        assertThat(world.events(LockEvent.LeaseAbandoned.class)).isEmpty();
        assertThat(world.store.contents()).isNotEmpty();
        world.takeAway(World.NAME);
        world.pass(LEASE.dividedBy(3));
        assertThat(waiting.getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
    }

    @Test
    void aReleaseThatIsKeptForLaterKeepsTheLease() {
        Mono<Void> release = releaseOf(world.lock().acquire());
        collectGarbage();
        world.pass(LEASE);
        assertThat(world.events(LockEvent.LeaseAbandoned.class)).isEmpty();

        assertThat(world.subscribe(release).isTerminatedComplete()).isTrue();
        assertThat(world.store.contents()).isEmpty();
    }

    /** Keeps the subscription, and drops the lease that it receives. */
    private static final class KeepsTheSubscription<T> implements CoreSubscriber<T> {

        private final List<Subscription> kept = new ArrayList<>();

        @Override
        public void onSubscribe(Subscription s) {
            kept.add(s);
            s.request(1);
        }

        @Override
        public void onNext(T dropped) {}

        @Override
        public void onError(Throwable error) {
            throw new AssertionError(error);
        }

        @Override
        public void onComplete() {}
    }

    @Test
    void leasesOfManyLocksThatAreDroppedAreReleased() {
        var subscriber = new KeepsTheSubscription<MultiLease>();
        world.client
                .all(world.client.lock("a"), world.client.lock("b"))
                .acquire()
                .subscribe(subscriber);
        collectGarbage();

        world.pass(LEASE.dividedBy(3));

        assertThat(world.events(LockEvent.LeaseAbandoned.class)).hasSize(2);
        assertThat(world.store.contents()).isEmpty();
        assertThat(subscriber.kept).hasSize(1);
    }

    @Test
    void workUnderWithLockIsNeverAbandoned() {
        TestSubscriber<Object> working = world.subscribe(world.lock().withLock(Mono.never()));
        collectGarbage();

        world.pass(Duration.ofMinutes(5));

        assertThat(world.events(LockEvent.LeaseAbandoned.class)).isEmpty();
        working.cancel();
    }

    private Mono<Void> releaseOf(Mono<LockLease> acquire) {
        TestSubscriber<LockLease> acquired = world.subscribe(acquire);
        return world.only(acquired).release();
    }
}
