package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;
import reactor.util.context.ContextView;

/**
 * A nested lease that outlives the outermost lease ends with a loss: nested work never goes on unprotected without a
 * signal.
 */
class NestedLossTest {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    @RegisterExtension
    final World world = new World();

    @Test
    void nestedWorkInACacheIsCancelledWhenTheOutermostEnds() {
        ReactiveLock lock = world.lock();
        Mono<String> config = lock.withLock(Mono.<String>never()).cache(LEASE, world.clock);
        TestSubscriber<String> first = world.subscribe(lock.withLock(config.timeout(PATIENCE, world.clock)));
        TestSubscriber<String> other = world.subscribe(config);

        world.pass(PATIENCE);

        assertThat(first.expectTerminalError()).isInstanceOf(TimeoutException.class);
        LockLease rival = world.granted(world.rivalLock().acquire());
        assertThat(other.expectTerminalError()).isInstanceOf(LockLostException.class);
        world.subscribe(rival.release());
    }

    @Test
    void nestedWorkWithoutAWaitingCallerIsCancelledWhenTheOutermostEnds() {
        ReactiveLock lock = world.lock();
        TestSubscriber<Object> forgotten = TestSubscriber.create();
        TestSubscriber<String> outer = world.subscribe(lock.withLock(Mono.deferContextual(context -> {
            lock.withLock(Mono.never()).contextWrite(context).subscribe(forgotten);
            return Mono.just("sold");
        })));

        assertThat(outer.getReceivedOnNext()).containsExactly("sold");
        assertThat(forgotten.expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContainingAll(NAME, "outermost lease was released", "wait for that work");
    }

    @Test
    void nestedWorkThatBeginsAfterTheOutermostHasEndedTakesTheLockItself() {
        ReactiveLock lock = world.lock();
        ContextView inside = contextOfAWithLockThatHasEnded(lock);
        TestSubscriber<Object> late =
                world.subscribe(lock.withLock(Mono.never()).contextWrite(inside));

        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(2);
        assertThat(world.subscribe(world.rivalLock().tryAcquire()).isTerminatedComplete())
                .as("the rival finds it taken")
                .isTrue();
        late.cancel();
    }

    @Test
    void synchronousNestedWorkOnAnotherThreadSeesItsLeaseLost() throws InterruptedException {
        ReactiveLock lock = world.lock();
        Scheduler other = Schedulers.newBoundedElastic(1, 1, "other"); // its thread may block
        CountDownLatch working = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicReference<LockLease> view = new AtomicReference<>();
        Sinks.Empty<String> failing = Sinks.empty();
        Mono<String> nested = lock.withLock(inner -> Mono.fromCallable(() -> {
            view.set(inner);
            working.countDown();
            awaitWhateverInterrupts(mayEnd);
            return "sold";
        }));
        TestSubscriber<Object> result = TestSubscriber.create();
        lock.withLock(outer ->
                        Mono.<Object, String, String>zip(failing.asMono(), nested.subscribeOn(other), (a, b) -> a + b))
                .subscribe(result);
        working.await();

        failing.tryEmitError(new IllegalStateException("sold out"));

        assertThat(result.expectTerminalError()).hasMessage("sold out");
        LockLease rival = world.granted(world.rivalLock().acquire());
        assertThat(view.get().isValid()).isFalse();
        assertThat(world.subscribe(view.get().onLoss()).getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
        mayEnd.countDown();
        world.subscribe(rival.release());
        other.dispose();
    }

    private static void awaitWhateverInterrupts(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException leaving) {
                // The work ignores its cancellation.
            }
        }
    }

    @Test
    void nestedWorkIsCancelledBeforeTheOutermostReleaseIsSent() {
        ReactiveLock lock = world.lock();
        AtomicInteger releasesAtTheCancellation = new AtomicInteger(-1);
        Mono<Object> nested = lock.withLock(Mono.never()
                .doOnCancel(() -> releasesAtTheCancellation.set(
                        world.on(Operation.RELEASE).calls())));
        TestSubscriber<String> outer = world.subscribe(lock.withLock(Mono.deferContextual(context -> {
            nested.contextWrite(context).subscribe(done -> {}, lost -> {});
            return Mono.just("sold");
        })));

        assertThat(outer.isTerminatedComplete()).isTrue();
        assertThat(releasesAtTheCancellation).hasValue(0);
    }

    @Test
    void aViewThatWasNotReleasedIsLostWithTheOutermostRelease() {
        ReactiveLock lock = world.lock();
        TestSubscriber<LossReason> loss = TestSubscriber.create();
        LockLease view = world.only(world.subscribe(lock.withLock(
                outer -> lock.acquire().doOnNext(inner -> inner.onLoss().subscribe(loss)))));

        assertThat(loss.getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
        assertThat(view.isValid()).isFalse();
        assertThat(view.remaining()).isZero();
        assertThat(world.subscribe(view.onLoss()).getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
        assertThat(world.subscribe(view.renew()).expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(world.subscribe(view.release()).expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("outermost lease was released");
        assertThat(world.subscribe(view.release()).expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void aViewInsideAViewIsLostWithTheOutermostReleaseToo() {
        ReactiveLock lock = world.lock();
        TestSubscriber<Object> innermost = TestSubscriber.create();
        TestSubscriber<String> outer =
                world.subscribe(lock.withLock(first -> lock.withLock(second -> Mono.deferContextual(context -> {
                    lock.withLock(Mono.never()).contextWrite(context).subscribe(innermost);
                    return Mono.just("sold");
                }))));

        assertThat(outer.isTerminatedComplete()).isTrue();
        assertThat(innermost.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void aReadViewIsLostWhenItsWriteLeaseIsReleased() {
        ReactiveReadWriteLock lock = world.client.readWriteLock(NAME);
        TestSubscriber<Object> reader = TestSubscriber.create();
        TestSubscriber<String> writer = world.subscribe(lock.writeLock().withLock(Mono.deferContextual(context -> {
            lock.readLock().withLock(Mono.never()).contextWrite(context).subscribe(reader);
            return Mono.just("sold");
        })));

        assertThat(writer.isTerminatedComplete()).isTrue();
        assertThat(reader.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void releasingTheOutermostByHandInsideItsWithLockIsALossForNestedLeases() {
        ReactiveLock lock = world.lock();
        TestSubscriber<Object> result = world.subscribe(lock.withLock(
                outer -> Mono.when(lock.withLock(Mono.never()), outer.release()).cast(Object.class)));

        assertThat(result.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void theReleaseOfAViewHasOneResultForAllSubscribers() {
        ReactiveLock lock = world.lock();
        AtomicReference<LockLease> view = new AtomicReference<>();
        TestSubscriber<Object> outer =
                world.subscribe(lock.withLock(lock.acquire().doOnNext(view::set).then(Mono.never())));
        Mono<Void> release = view.get().release();
        assertThat(world.subscribe(release).isTerminatedComplete()).isTrue();

        world.takeAway(NAME);
        world.pass(LEASE.dividedBy(3));

        assertThat(outer.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(world.subscribe(release).isTerminatedComplete()).isTrue();
        assertThat(world.subscribe(view.get().onLoss()).isTerminatedComplete()).isTrue();
    }

    @Test
    void aViewNamesTheReasonOfTheOutermostLoss() {
        ReactiveLock lock = world.lock(options -> options.maxHoldTime(LEASE));
        AtomicReference<LockLease> view = new AtomicReference<>();
        TestSubscriber<Object> outer =
                world.subscribe(lock.withLock(lock.acquire().doOnNext(view::set).then(Mono.never())));

        world.pass(LEASE);

        assertThat(outer.expectTerminalError()).hasMessageContaining("longest hold time");
        assertThat(world.subscribe(view.get().release()).expectTerminalError())
                .hasMessageContaining("longest hold time");
    }

    @Test
    void listeningForTheLossOfAViewEndsWithTheView() {
        ReactiveLock lock = world.lock();
        TestSubscriber<LossReason> loss = TestSubscriber.create();
        TestSubscriber<Object> outer = world.subscribe(lock.withLock(lock.acquire()
                .doOnNext(view -> view.onLoss().subscribe(loss))
                .flatMap(LockLease::release)
                .then(Mono.never())));

        assertThat(loss.isTerminatedComplete()).isTrue();
        assertThat(loss.getReceivedOnNext()).isEmpty();
        outer.cancel();
    }

    private ContextView contextOfAWithLockThatHasEnded(ReactiveLock lock) {
        return world.only(world.subscribe(lock.withLock(Mono.deferContextual(Mono::<ContextView>just))));
    }
}
