package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;
import reactor.util.context.ContextView;

class ReentrancyTest {

    @RegisterExtension
    final World world = new World();

    @Test
    void aNestedAcquisitionIsAViewWithTheSameTokenAndNoRequest() {
        ReactiveLock lock = world.lock();
        TestSubscriber<Long> difference =
                world.subscribe(lock.withLock(outer -> lock.withLock(inner -> lock.tryAcquire()
                        .map(third -> third.fencingToken() + inner.fencingToken() - 2 * outer.fencingToken()))));

        assertThat(difference.getReceivedOnNext()).containsExactly(0L);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isOne();
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void releasingANestedViewEndsOnlyTheViewAndTheOutermostFreesTheLock() {
        ReactiveLock lock = world.lock();
        TestSubscriber<Boolean> result = world.subscribe(lock.withLock(outer -> lock.acquire()
                .flatMap(inner -> inner.release()
                        .then(inner.release())
                        .then(inner.onLoss().hasElement())
                        .map(lost ->
                                !lost && !inner.isValid() && inner.remaining().isZero() && outer.isValid()))));

        assertThat(result.getReceivedOnNext()).containsExactly(true);
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
    }

    @Test
    void aForgottenViewDoesNotKeepTheLock() {
        ReactiveLock lock = world.lock();
        TestSubscriber<LockLease> escaped = world.subscribe(lock.withLock(outer -> lock.acquire()));

        assertThat(world.store.contents()).isEmpty();
        assertThat(world.only(escaped).isValid()).isFalse();
        assertThat(world.subscribe(world.only(escaped).release()).expectTerminalError())
                .isInstanceOf(LockLostException.class);
    }

    @Test
    void afterTheOuterLeaseWasReleasedItIsAFreshAcquisition() {
        ReactiveLock lock = world.lock();
        TestSubscriber<Boolean> result = world.subscribe(lock.withLock(outer -> outer.release()
                .then(lock.acquire())
                .flatMap(fresh -> fresh.release().thenReturn(fresh.fencingToken() > outer.fencingToken()))));

        assertThat(result.getReceivedOnNext()).containsExactly(true);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(2);
    }

    @Test
    void afterTheOuterLeaseWasLostItFails() {
        ReactiveLock lock = world.lock();
        AtomicReference<ContextView> inside = new AtomicReference<>();
        TestSubscriber<Object> outer = world.subscribe(lock.withLock(Mono.deferContextual(context -> {
            inside.set(context);
            return Mono.never();
        })));
        world.takeAway(NAME);
        world.pass(LEASE.dividedBy(3));
        assertThat(outer.expectTerminalError()).isInstanceOf(LockLostException.class);

        assertThat(world.subscribe(lock.acquire().contextWrite(inside.get())).expectTerminalError())
                .isInstanceOf(LockLostException.class);
        assertThat(world.subscribe(lock.current().contextWrite(inside.get())).isTerminatedComplete())
                .isTrue();
    }

    @Test
    void nestedWithoutReentrancyIsAnErrorAtOnce() {
        ReactiveLock lock = world.lock(options -> options.reentrant(false));
        TestSubscriber<Object> result = world.subscribe(lock.withLock(lock.withLock(Mono.never())));

        assertThat(result.expectTerminalError())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(NAME);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void anotherLockInsideIsASeparateAcquisition() {
        TestSubscriber<Object> result =
                world.subscribe(world.lock().withLock(world.client.lock("other").withLock(Mono.never())));

        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(2);
        result.cancel();
    }

    @Test
    void currentIsTheLeaseOfTheEnclosingWithLock() {
        ReactiveLock lock = world.lock();
        assertThat(world.subscribe(lock.current()).isTerminatedComplete()).isTrue();

        TestSubscriber<Boolean> same =
                world.subscribe(lock.withLock(lease -> lock.current().map(lease::equals)));
        TestSubscriber<Boolean> other = world.subscribe(
                lock.withLock(world.client.lock("other").current().hasElement()));

        assertThat(same.getReceivedOnNext()).containsExactly(true);
        assertThat(other.getReceivedOnNext()).containsExactly(false);
    }

    @Test
    void parallelBranchesInsideOneWithLockAreTheSameOwner() {
        ReactiveLock lock = world.lock();
        TestSubscriber<Long> tokens = world.subscribe(lock.withLock(outer -> Flux.range(0, 10)
                .flatMap(n -> lock.withLock(inner -> Mono.just(inner.fencingToken())))
                .distinct()
                .count()));

        assertThat(tokens.getReceivedOnNext()).containsExactly(1L);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isOne();
    }

    @Test
    void theLossOfTheOutermostIsTheLossOfItsViews() {
        ReactiveLock lock = world.lock();
        TestSubscriber<Object> result = TestSubscriber.create();
        TestSubscriber<Object> outer =
                world.subscribe(lock.withLock(lock.acquire().flatMap(view -> {
                    view.onLoss().map(Object.class::cast).subscribe(result);
                    return Mono.never();
                })));
        world.takeAway(NAME);
        world.pass(LEASE.dividedBy(3));

        assertThat(result.getReceivedOnNext()).hasSize(1);
        assertThat(outer.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void aReadInsideTheOwnWriteLockIsAViewOfTheWriteLease() {
        ReactiveReadWriteLock lock = world.client.readWriteLock(NAME);
        TestSubscriber<Boolean> result = world.subscribe(lock.writeLock()
                .withLock(write ->
                        lock.readLock().withLock(read -> Mono.just(read.fencingToken() == write.fencingToken()))));

        assertThat(result.getReceivedOnNext()).containsExactly(true);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isOne();
    }

    @Test
    void aReadLockCannotBeUpgraded() {
        ReactiveReadWriteLock lock = world.client.readWriteLock(NAME);
        TestSubscriber<Object> result =
                world.subscribe(lock.readLock().withLock(lock.writeLock().withLock(Mono.never())));

        assertThat(result.expectTerminalError())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("upgrade");
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aNestedViewSendsNoRequest() {
        ReactiveLock lock = world.lock();
        TestSubscriber<String> result = world.subscribe(lock.withLock(outer -> {
            world.on(Operation.TRY_ACQUIRE).always(Fault.refused());
            return lock.withLock(Mono.just("sold"));
        }));

        assertThat(result.getReceivedOnNext()).containsExactly("sold");
    }
}
