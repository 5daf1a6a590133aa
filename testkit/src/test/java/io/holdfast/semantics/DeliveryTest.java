package io.holdfast.semantics;

import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.support.HeldContext;
import io.holdfast.testkit.ExclusionProbe;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;
import reactor.util.context.Context;

class DeliveryTest {

    @RegisterExtension
    final World world = new World();

    private static final Duration LONGEST_HOLD = Duration.ofSeconds(40);

    private final Queue<Runnable> tasks = new ArrayDeque<>();

    @Test
    void signalsComeOnTheDeliverOnScheduler() throws InterruptedException {
        Scheduler delivery = Schedulers.newSingle("delivery");
        LockClient client = LockClient.builder(InMemoryLockBackend.create())
                .deliverOn(delivery)
                .build();
        CountDownLatch done = new CountDownLatch(3);
        AtomicReference<String> wrong = new AtomicReference<>();
        Runnable check = () -> {
            String thread = Thread.currentThread().getName();
            if (!thread.startsWith("delivery")) {
                wrong.set(thread);
            }
            done.countDown();
        };
        client.lock(NAME)
                .acquire()
                .doOnNext(lease -> check.run())
                .flatMap(lease -> lease.release().doOnTerminate(check))
                .then(client.lock(NAME).tryAcquire())
                .doOnNext(lease -> lease.onLoss().subscribe(reason -> check.run()))
                .then(Mono.defer(client::close))
                .subscribe();

        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(wrong.get()).isNull();
        delivery.dispose();
    }

    /** The listener is called when the lease is handed out, and may take long. */
    @Test
    void workDoesNotBeginUnderALeaseThatWasLostDuringAListener() {
        VirtualTimeScheduler slow = VirtualTimeScheduler.create();
        AtomicReference<LockClient> closing = new AtomicReference<>();
        LockClient client =
                world.client(builder -> builder.deliverOn(new Late(slow)).listener(event -> {
                    if (event instanceof LockEvent.Acquired) {
                        Mono<Void> unused = closing.get().close();
                    }
                }));
        closing.set(client);
        AtomicBoolean hasBegun = new AtomicBoolean();
        TestSubscriber<Object> result = world.subscribe(client.lock(NAME).withLock(lease -> {
            hasBegun.set(true);
            return Mono.empty();
        }));

        slow.advanceTimeBy(Duration.ofSeconds(1));
        world.pass(Duration.ZERO);
        slow.advanceTimeBy(Duration.ofSeconds(1));

        assertThat(hasBegun).isFalse();
        assertThat(result.expectTerminalError()).isInstanceOf(LockLostException.class);
        world.pass(Duration.ofSeconds(1));
    }

    @Test
    void aLeaseThatIsLostOnTheWayToItsSubscriberIsAcquiredAgain() {
        VirtualTimeScheduler slow = VirtualTimeScheduler.create();
        LockClient client = world.client(builder -> builder.deliverOn(new Late(slow)));
        TestSubscriber<LockLease> result = world.subscribe(client.lock(NAME).acquire());
        assertThat(result.getReceivedOnNext()).isEmpty();
        world.takeAway(NAME);
        world.pass(Duration.ofSeconds(10));

        slow.advanceTimeBy(Duration.ofSeconds(1));
        world.pass(Duration.ZERO);
        slow.advanceTimeBy(Duration.ofSeconds(1));

        assertThat(world.only(result).isValid()).isTrue();
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(2);
        TestSubscriber<Void> closed = world.subscribe(client.close());
        assertThat(closed.isTerminatedComplete()).isTrue();
    }

    @Test
    void aSubscriberThatCancelsBeforeItsLeaseArrivesGetsNothingAndLeavesNothing() {
        VirtualTimeScheduler slow = VirtualTimeScheduler.create();
        LockClient client = world.client(builder -> builder.deliverOn(new Late(slow)));
        TestSubscriber<LockLease> leaving = world.subscribe(client.lock(NAME).acquire());
        leaving.cancel();

        slow.advanceTimeBy(Duration.ofSeconds(1));

        assertThat(leaving.getReceivedOnNext()).isEmpty();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aClientThatIsClosedWhileALeaseIsOnTheWayFailsIt() {
        VirtualTimeScheduler slow = VirtualTimeScheduler.create();
        LockClient client = world.client(builder -> builder.deliverOn(new Late(slow)));
        TestSubscriber<LockLease> result = world.subscribe(client.lock(NAME).acquire());
        TestSubscriber<Void> closed = world.subscribe(client.close());
        assertThat(closed.isTerminated()).isFalse(); // the scheduler is needed until then

        slow.advanceTimeBy(Duration.ofSeconds(1));
        slow.advanceTimeBy(Duration.ofSeconds(1));

        assertThat(result.expectTerminalError()).isInstanceOf(LockClosedException.class);
        assertThat(closed.isTerminatedComplete()).isTrue();
        world.pass(Duration.ofSeconds(2));
    }

    @Test
    void anyThreadMayAcquireAndAnotherReleaseAndNoneBlocks() {
        LockClient client = LockClient.create(InMemoryLockBackend.create());
        ExclusionProbe probe = ExclusionProbe.exclusive();
        ReactiveLock lock = client.lock(NAME);

        Mono<Long> sales = Flux.range(0, 5_000)
                .flatMap(
                        n -> lock.withLock(lease -> Mono.fromRunnable(() -> probe.enter(lease.fencingToken()))
                                        .then(Mono.fromRunnable(probe::exit).subscribeOn(Schedulers.parallel())))
                                .thenReturn(n)
                                .subscribeOn(Schedulers.parallel()),
                        500)
                .count();

        StepVerifier.create(sales).expectNext(5_000L).expectComplete().verify(Duration.ofSeconds(60));
        probe.verify();
        assertThat(probe.entries()).isEqualTo(5_000);
        StepVerifier.create(client.close()).expectComplete().verify(Duration.ofSeconds(5));
    }

    @Test
    void aListenerThatThrowsAffectsNoLock() {
        LockClient client = world.client(builder -> builder.listener(event -> {
            throw new IllegalStateException("broken listener on " + event);
        }));
        TestSubscriber<String> result = world.subscribe(client.lock(NAME).withLock(Mono.just("sold")));

        assertThat(result.getReceivedOnNext()).containsExactly("sold");
        world.subscribe(client.close());
    }

    @Test
    void aSubscriberThatThrowsDoesNotKeepTheLock() {
        world.lock()
                .withLock(Mono.just("sold"))
                .subscribe(
                        sold -> {
                            throw new IllegalStateException("broken subscriber");
                        },
                        error -> {});
        world.pass(Duration.ZERO);

        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void eventsReportTheLifeOfALease() {
        LockLease lease = world.granted(world.lock().acquire());
        String claimId = world.client.report().holds().get(0).claimId();
        world.pass(Duration.ofSeconds(3));
        world.subscribe(lease.release());

        LockEvent.Subject subject = new LockEvent.Subject(NAME, LockKind.MUTEX, 1, claimId);
        assertThat(world.events)
                .containsExactly(
                        new LockEvent.AcquireStarted(subject),
                        new LockEvent.Acquired(subject, lease.fencingToken(), Duration.ZERO, 1),
                        new LockEvent.Released(subject, lease.fencingToken(), Duration.ofSeconds(3)));
    }

    @Test
    void lossIsSignalledToEverySubscriber() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<LossReason> first = world.subscribe(lease.onLoss());
        TestSubscriber<LossReason> second = world.subscribe(lease.onLoss());
        world.takeAway(NAME);
        world.pass(Duration.ofSeconds(10));

        assertThat(first.getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
        assertThat(second.getReceivedOnNext()).containsExactly(LossReason.NOT_HELD);
    }

    @Test
    void aRenewalThatSucceededSucceedsWithoutTheDeliveryScheduler() {
        Rejecting delivery = new Rejecting(world.clock);
        LockClient client = world.client(builder -> builder.deliverOn(delivery));
        LockLease lease = world.granted(client.lock(NAME).acquire());
        delivery.rejects = true;

        assertThat(world.subscribe(lease.renew()).isTerminatedComplete()).isTrue();
        assertThat(world.on(Operation.RENEW).calls()).as("sent once").isOne();
        world.subscribe(client.close());
    }

    @Test
    void aHolderGetsTheLossBeforeTheLockIsReleasedOnABusySchedulerToo() {
        VirtualTimeScheduler slow = VirtualTimeScheduler.create();
        LockClient client = world.client(builder -> builder.deliverOn(new Late(slow)));
        TestSubscriber<LockLease> acquiring = world.subscribe(client.lock(NAME).acquire());
        slow.advanceTimeBy(Duration.ofSeconds(1));
        List<Integer> releasesWhenTold = new ArrayList<>();
        Disposable unused = world.only(acquiring)
                .onLoss()
                .subscribe(reason ->
                        releasesWhenTold.add(world.on(Operation.RELEASE).calls()));
        TestSubscriber<Void> closed = world.subscribe(client.close());
        assertThat(world.on(Operation.RELEASE).calls()).isZero();

        slow.advanceTimeBy(Duration.ofSeconds(1));

        assertThat(releasesWhenTold).containsExactly(0);
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
        assertThat(closed.isTerminatedComplete()).isTrue();
    }

    @Test
    void aSchedulerThatDoesNotRunItsTasksDelaysAReleaseForAnOperationTimeoutAtMost() {
        VirtualTimeScheduler stuck = VirtualTimeScheduler.create();
        AtomicBoolean isStuck = new AtomicBoolean();
        Scheduler delivery = Schedulers.fromExecutor(task -> {
            if (isStuck.get()) {
                stuck.schedule(task, 1, TimeUnit.DAYS);
            } else {
                task.run();
            }
        });
        LockClient client = world.client(builder -> builder.deliverOn(delivery)
                .options(LockOptions.builder()
                        .maxHoldTime(World.LEASE.multipliedBy(2))
                        .build()));
        LockLease lease = world.granted(client.lock(NAME).acquire());
        Disposable unused = lease.onLoss().subscribe();
        isStuck.set(true);

        world.pass(World.LEASE.multipliedBy(2).plus(World.OPERATION_TIMEOUT).minusMillis(1));
        assertThat(lease.isValid()).isFalse();
        assertThat(world.on(Operation.RELEASE).calls()).isZero();
        world.pass(Duration.ofMillis(1));

        assertThat(world.on(Operation.RELEASE).calls()).isOne();
        world.subscribe(client.close());
    }

    @Test
    void aCloseHasTimeForItsReleasesAlthoughTheSchedulerDoesNotRunItsTasks() {
        VirtualTimeScheduler stuck = VirtualTimeScheduler.create();
        AtomicBoolean isStuck = new AtomicBoolean();
        LockClient client = world.client(builder -> builder.deliverOn(Schedulers.fromExecutor(task -> {
            if (isStuck.get()) {
                stuck.schedule(task, 1, TimeUnit.DAYS);
            } else {
                task.run();
            }
        })));
        Disposable unused = world.granted(client.lock(NAME).acquire()).onLoss().subscribe();
        isStuck.set(true);
        world.on(Operation.RELEASE).next(Fault.delayedReply(World.OPERATION_TIMEOUT.dividedBy(4)));
        TestSubscriber<Void> closed = world.subscribe(client.close());

        world.pass(World.OPERATION_TIMEOUT.dividedBy(4).multipliedBy(3));

        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
        assertThat(world.store.contents()).isEmpty();
    }

    /** The outermost release ends nested work. */
    @Test
    void nestedWorkGetsTheEndOfItsLockBeforeTheLockIsReleased() {
        VirtualTimeScheduler slow = VirtualTimeScheduler.create();
        LockClient client = world.client(builder -> builder.deliverOn(new Late(slow)));
        ReactiveLock lock = client.lock(NAME);
        List<Integer> releasesWhenTold = new ArrayList<>();
        TestSubscriber<Object> result = world.subscribe(lock.withLock(outer -> {
            Mono<Object> nested = lock.withLock(Mono.never()
                    .doOnCancel(() ->
                            releasesWhenTold.add(world.on(Operation.RELEASE).calls())));
            return Mono.deferContextual(context -> {
                nested.contextWrite(context).subscribe(value -> {}, error -> {});
                return Mono.delay(Duration.ofSeconds(5), world.clock).map(tick -> "done");
            });
        }));
        for (int i = 0; i < 10; i++) {
            slow.advanceTimeBy(Duration.ofSeconds(1));
            world.pass(Duration.ofSeconds(1));
        }
        for (int i = 0; i < 5; i++) {
            slow.advanceTimeBy(Duration.ofSeconds(1));
            world.pass(Duration.ZERO);
        }

        assertThat(result.isTerminatedComplete()).isTrue();
        assertThat(releasesWhenTold).containsExactly(0);
        world.subscribe(client.close());
    }

    @Test
    void aCancelledExportReleasesTheLockWhenItsEndWasTold() {
        VirtualTimeScheduler slow = VirtualTimeScheduler.create();
        LockClient client = world.client(builder -> builder.deliverOn(new Late(slow)));
        TestSubscriber<LockLease> acquiring = world.subscribe(client.lock(NAME).acquire());
        slow.advanceTimeBy(Duration.ofSeconds(1));
        LockLease lease = world.only(acquiring);
        List<Integer> releasesWhenTold = new ArrayList<>();
        Disposable unused = lease.onLoss()
                .subscribe(
                        reason -> {},
                        error -> {},
                        () -> releasesWhenTold.add(world.on(Operation.RELEASE).calls()));
        world.subscribe(lease.export()).cancel();

        slow.advanceTimeBy(Duration.ofSeconds(1));

        assertThat(releasesWhenTold).containsExactly(0);
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
        world.subscribe(client.close());
    }

    static Stream<Arguments> membersAndEnds() {
        List<Function<LockClient, ReactiveMultiLock>> members = List.of(
                client -> client.all(client.lock("a"), client.lock("b")),
                client -> client.all(
                        client.readWriteLock("a").writeLock(),
                        client.readWriteLock("b").writeLock()),
                client -> client.all(
                        client.readWriteLock("a").readLock(),
                        client.readWriteLock("b").readLock()));
        List<BiConsumer<World, LockClient>> ends = List.of(
                (world, client) -> world.subscribe(client.close()), (world, client) -> world.pass(LONGEST_HOLD));
        return members.stream().flatMap(locks -> ends.stream().map(end -> Arguments.of(locks, end)));
    }

    @ParameterizedTest
    @MethodSource("membersAndEnds")
    void noMemberOfAMultiLockIsReleasedWhileTheWorkIsBeingCancelled(
            Function<LockClient, ReactiveMultiLock> locks, BiConsumer<World, LockClient> end) {
        List<Integer> releases = new ArrayList<>();
        LockClient client = clientOfTasks();
        world.subscribe(locks.apply(client).withLock(Mono.never().doOnCancel(() -> noteReleases(releases))));
        runTasks();

        end.accept(world, client);
        runTasks();

        assertThat(releases).containsExactly(0);
        assertThat(world.on(Operation.RELEASE).calls()).isEqualTo(2);
        world.subscribe(client.close());
    }

    @ParameterizedTest
    @MethodSource("membersAndEnds")
    void noMemberOfAMultiLockIsReleasedWhileTheHolderIsBeingTold(
            Function<LockClient, ReactiveMultiLock> locks, BiConsumer<World, LockClient> end) {
        List<Integer> releases = new ArrayList<>();
        LockClient client = clientOfTasks();
        TestSubscriber<MultiLease> acquired =
                world.subscribe(locks.apply(client).acquire());
        runTasks();
        Disposable unused = world.only(acquired).onLoss().subscribe(lost -> noteReleases(releases));

        end.accept(world, client);
        runTasks();

        assertThat(releases).containsExactly(0);
        assertThat(world.on(Operation.RELEASE).calls()).isEqualTo(2);
        world.subscribe(client.close());
    }

    @Test
    void aLockThatIsLostWhileItsWorkIsBeingCancelledIsReleasedAfterThat() {
        List<Integer> releases = new ArrayList<>();
        LockClient client = clientOfTasks();
        TestSubscriber<Object> work =
                world.subscribe(client.lock(NAME).withLock(Mono.never().doOnCancel(() -> {
                    world.subscribe(client.close());
                    noteReleases(releases);
                })));
        runTasks();

        work.cancel();

        assertThat(releases).containsExactly(0);
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
    }

    @Test
    void anOuterLockThatIsReleasedWhileNestedWorkIsBeingCancelledIsReleasedAfterThat() {
        List<Integer> releases = new ArrayList<>();
        LockClient client = clientOfTasks();
        ReactiveLock lock = client.lock(NAME);
        Sinks.Empty<Object> outer = Sinks.empty();
        Sinks.Empty<Object> nested = Sinks.empty();
        world.subscribe(lock.withLock(lease -> Mono.deferContextual(context -> {
            Mono<Object> inside = lock.withLock(Mono.never().doOnCancel(() -> {
                outer.tryEmitEmpty();
                noteReleases(releases);
            }));
            Disposable unused =
                    inside.takeUntilOther(nested.asMono()).contextWrite(context).subscribe();
            return outer.asMono();
        })));
        runTasks();

        nested.tryEmitEmpty();

        assertThat(releases).containsExactly(0);
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
        runTasks();
        world.subscribe(client.close());
    }

    static Stream<Function<LockClient, Mono<Void>>> endsOfClients() {
        return Stream.of(LockClient::close, LockClient::drain);
    }

    @ParameterizedTest
    @MethodSource("endsOfClients")
    void aCancelledExportIsReleasedBeforeTheClientHasEnded(Function<LockClient, Mono<Void>> end) {
        LockClient client = clientOfTasks();
        TestSubscriber<String> export = exported(client);
        export.cancel();
        List<Integer> releases = releasesAtTheEnd(end.apply(client));

        runTasks();

        assertThat(releases).containsExactly(1);
        world.subscribe(client.close());
    }

    @ParameterizedTest
    @MethodSource("endsOfClients")
    void anExportThatIsCancelledBeforeItsTextArrivesIsReleasedBeforeTheClientHasEnded(
            Function<LockClient, Mono<Void>> end) {
        LockClient client = clientOfTasks();
        TestSubscriber<String> export = exported(client);
        tasks.remove().run(); // the end of the lease
        List<Integer> releases = releasesAtTheEnd(end.apply(client));

        export.cancel();

        assertThat(releases).containsExactly(1);
        world.subscribe(client.close());
        runTasks();
    }

    /** As an executor does that is shut down, or discards what is too much for it. */
    @Test
    void anExportWhoseTextIsDroppedDoesNotKeepItsClientFromDraining() {
        LockClient client = clientOfTasks();
        TestSubscriber<String> unused = exported(client);
        tasks.remove().run(); // the end of the lease
        tasks.clear();
        TestSubscriber<Void> drained = world.subscribe(client.drain());

        world.pass(LONGEST_HOLD);

        assertThat(drained.isTerminatedComplete()).isTrue();
        world.subscribe(client.close());
    }

    private TestSubscriber<String> exported(LockClient client) {
        TestSubscriber<LockLease> acquiring = world.subscribe(client.lock(NAME).acquire());
        runTasks();
        LockLease lease = world.only(acquiring);
        Disposable unused = lease.onLoss().subscribe();
        return world.subscribe(lease.export());
    }

    private List<Integer> releasesAtTheEnd(Mono<Void> end) {
        List<Integer> releases = new ArrayList<>();
        Disposable unused = end.subscribe(
                nothing -> {},
                error -> {},
                () -> releases.add(world.on(Operation.RELEASE).calls()));
        return releases;
    }

    /** Another thread signals at the same time, and tells the nested work. */
    @Test
    void aLockIsReleasedWhenEachThreadHasToldItsLoss() throws InterruptedException {
        LockLease lease = world.granted(world.lock().acquire());
        Mono<LockLease> acquiring = world.lock().acquire().contextWrite(HeldContext.with(lease, Context.empty()));
        LockLease nested = world.granted(acquiring);
        LockLease late = world.granted(acquiring);
        CountDownLatch isTold = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Disposable unused = nested.onLoss().subscribe(reason -> {
            isTold.countDown();
            await(mayEnd);
        });
        Thread other = new Thread(() -> late.onLoss().subscribe());
        Disposable unusedToo = lease.onLoss().subscribe(reason -> {
            other.start();
            await(isTold);
        });

        world.subscribe(world.client.close());

        assertThat(world.on(Operation.RELEASE).calls()).isZero();
        mayEnd.countDown();
        other.join();
        assertThat(world.on(Operation.RELEASE).calls()).isOne();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Its {@code deliverOn} has several threads: a signal may come within another one. */
    private LockClient clientOfTasks() {
        return world.client(builder -> builder.deliverOn(Schedulers.fromExecutor(tasks::add))
                .options(LockOptions.builder().maxHoldTime(LONGEST_HOLD).build()));
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    private void noteReleases(List<Integer> releases) {
        runTasks();
        releases.add(world.on(Operation.RELEASE).calls());
    }

    @Test
    void theLeaderIsReportedWithoutTheDeliveryScheduler() {
        Rejecting delivery = new Rejecting(world.clock);
        LockClient client = world.client(builder -> builder.deliverOn(delivery));
        LockLease lease = world.granted(client.lock(NAME).acquire());
        delivery.rejects = true;

        assertThat(world.only(world.subscribe(client.election(NAME).leader())).fencingToken())
                .isEqualTo(lease.fencingToken());
        assertThat(world.subscribe(client.election("free").leader()).isTerminatedComplete())
                .isTrue();
        world.subscribe(client.close());
    }

    @Test
    void aFailureArrivesWithoutTheDeliveryScheduler() {
        Rejecting delivery = new Rejecting(world.clock);
        LockClient client = world.client(builder -> builder.deliverOn(delivery));
        LockLease lease = world.granted(client.lock(NAME).acquire());
        delivery.rejects = true;
        world.subscribe(lease.release());

        assertThat(world.subscribe(lease.renew()).expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(world.subscribe(lease.export()).expectTerminalError()).isInstanceOf(LockLostException.class);
        world.subscribe(client.close());
    }

    @Test
    void aLeaseThatABusyDeliverySchedulerRejectsIsReleasedWithAnErrorThatNamesBoth() {
        assertThatARejectedLeaseIsReleased(
                new Rejecting(world.clock),
                error -> assertThat(error)
                        .isInstanceOf(RejectedExecutionException.class)
                        .hasMessage(
                                "lock '%s' was granted and is released again, because the scheduler given to deliverOn"
                                                .formatted(NAME)
                                        + " rejected the lease: its queue is full; give it more threads or a longer queue"));
    }

    @Test
    void aLeaseThatADisposedDeliverySchedulerRejectsIsReleasedWithAnErrorThatNamesBoth() {
        Rejecting disposed = new Rejecting(world.clock);
        disposed.disposed = true;
        assertThatARejectedLeaseIsReleased(
                disposed,
                error -> assertThat(error)
                        .isInstanceOf(LockClosedException.class)
                        .hasMessage(
                                "the lock client cannot go on because the scheduler given to deliverOn was disposed,"
                                        + " so lock '%s' cannot be acquired; make a new one".formatted(NAME)));
    }

    private void assertThatARejectedLeaseIsReleased(Rejecting delivery, Consumer<Throwable> check) {
        LockClient client = world.client(builder -> builder.deliverOn(delivery));
        LockLease writer = world.granted(client.readWriteLock(NAME).writeLock().acquire());
        delivery.rejects = true;
        check.accept(world.subscribe(writer.downgrade()).expectTerminalError());
        assertThat(world.store.contents()).isEmpty();

        for (Mono<?> acquire : List.of(
                client.lock(NAME).acquire(),
                client.lock(NAME).tryAcquire(),
                client.lock(NAME).withLock(Mono.never()),
                client.all(client.lock(NAME), client.lock(NAME + "/b")).acquire())) {
            check.accept(world.subscribe(acquire).expectTerminalError());
            assertThat(world.store.contents()).isEmpty();
        }
        assertThat(client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
        assertThat(world.events(LockEvent.AcquireFailed.class))
                .filteredOn(event -> event.lockName().equals(NAME))
                .isNotEmpty()
                .allSatisfy(event -> check.accept(event.error()));
        world.subscribe(client.close());
    }

    /** Rejects tasks, when it is told to. */
    private static final class Rejecting implements Scheduler {

        private final VirtualTimeScheduler clock;
        private boolean rejects;
        private boolean disposed;

        Rejecting(VirtualTimeScheduler clock) {
            this.clock = clock;
        }

        @Override
        public boolean isDisposed() {
            return disposed && rejects;
        }

        @Override
        public Disposable schedule(Runnable task) {
            check();
            return clock.schedule(task);
        }

        @Override
        public Worker createWorker() {
            Worker worker = clock.createWorker();
            return new Worker() {
                @Override
                public Disposable schedule(Runnable task) {
                    check();
                    return worker.schedule(task);
                }

                @Override
                public void dispose() {
                    worker.dispose();
                }
            };
        }

        private void check() {
            if (rejects) {
                throw new RejectedExecutionException("its queue is full");
            }
        }
    }

    /** Runs each task a second later, like a scheduler with a backlog. */
    record Late(VirtualTimeScheduler clock) implements Scheduler {

        @Override
        public Disposable schedule(Runnable task) {
            return clock.schedule(task, 1, TimeUnit.SECONDS);
        }

        @Override
        public Worker createWorker() {
            Worker worker = clock.createWorker();
            return new Worker() {
                @Override
                public Disposable schedule(Runnable task) {
                    return worker.schedule(task, 1, TimeUnit.SECONDS);
                }

                @Override
                public void dispose() {
                    worker.dispose();
                }
            };
        }
    }
}
