package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.NAME;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Rare moments: two threads meet, a back end is broken, or user code is called at an awkward point. */
class RareMomentsTest {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String NOTHING = "0 acquiring, 0 held, 0 releasing, 0 alarms";

    @RegisterExtension
    final World world = new World();

    @Test
    void aCancellationBeforeTheFirstAttemptLeavesNothing() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        AtomicReference<Runnable> onNow = new AtomicReference<>(() -> {});
        Clock clock = new Clock(world.clock, onNow);
        LockClient client = world.client(builder -> builder.timer(clock));
        BaseSubscriber<LockLease> leaving = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                onNow.set(this::cancel); // as another thread may, in the middle of the request
                request(1);
            }
        };
        client.lock(NAME).acquire().subscribe(leaving);
        onNow.set(() -> {});
        world.pass(Duration.ZERO);

        assertThat(world.store.contents()).hasSize(2).noneMatch(line -> line.contains("queued"));
        assertThat(client.toString()).contains(NOTHING);
        world.subscribe(holder.release());
    }

    @Test
    void aLossThatIsSignalledDuringTheHandOverReachesTheLease() {
        Sinks.Many<WatchSignal> signals = Sinks.many().unicast().onBackpressureBuffer();
        LockClient client = over(new Watching(world.store, signals.asFlux()) {
            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                return super.tryAcquire(claim)
                        .doAfterTerminate(() -> signals.emitNext(lost(), Sinks.EmitFailureHandler.FAIL_FAST));
            }
        });
        LockLease lease = world.granted(client.lock(NAME).acquire());

        assertThat(lease.isValid()).isFalse();
        assertThat(world.subscribe(lease.onLoss()).getReceivedOnNext()).containsExactly(LossReason.DISCONNECTED);
        assertThat(client.toString()).contains(NOTHING);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aSignalWhileHeldCausesARenewalAtOnceAndALossSignalEndsTheLease() {
        Sinks.Many<WatchSignal> signals = Sinks.many().unicast().onBackpressureBuffer();
        LockClient client = over(new Watching(world.faulty, signals.asFlux()));
        LockLease lease = world.granted(client.lock(NAME).tryAcquire());
        signals.emitNext(new WatchSignal.Changed(), Sinks.EmitFailureHandler.FAIL_FAST);
        world.pass(Duration.ZERO);
        assertThat(world.on(Operation.RENEW).calls()).isOne();
        assertThat(lease.isValid()).isTrue();

        signals.emitNext(lost(), Sinks.EmitFailureHandler.FAIL_FAST);

        assertThat(lease.isValid()).isFalse();
        assertThat(world.subscribe(lease.onLoss()).getReceivedOnNext()).containsExactly(LossReason.DISCONNECTED);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void eachPermitOfASemaphoreHasItsOwnRisingToken() {
        LockLease first = world.granted(world.client.semaphore(NAME, 2).acquire());
        LockLease second = world.granted(world.client.semaphore(NAME, 2).acquire());

        assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
    }

    @Test
    void aLossThatIsSignalledBeforeTheLeaseIsListedLeavesNothing() {
        AtomicBoolean again = new AtomicBoolean();
        LockClient client = over(new Watching(
                world.store,
                Flux.defer(() ->
                        again.getAndSet(true) ? Flux.never() : Flux.just(lost()).concatWith(Flux.never()))));
        LockLease lease = world.granted(client.lock(NAME).tryAcquire());
        world.subscribe(lease.release());

        assertThat(client.toString()).contains(NOTHING);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aBackEndThatCannotWatchIsPolled() {
        LockClient client = over(new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return world.store;
            }

            @Override
            public Flux<WatchSignal> watch(LockClaim claim) {
                throw new IllegalStateException("broken watch");
            }
        });

        LockLease waited = world.granted(client.lock(NAME).acquire());
        world.subscribe(waited.release());
        LockLease tried = world.granted(client.lock(NAME).tryAcquire());
        world.subscribe(tried.release());
        assertThat(client.toString()).contains(NOTHING);
    }

    @Test
    void theResultWaitsAtMostOneOperationTimeoutAlsoWhenTheSecondReleaseIsTheSilentOne() {
        world.on(Operation.RELEASE)
                .next(
                        lateFailure(OPERATION_TIMEOUT.minusMillis(500)),
                        Fault.lostRequest().silently());
        TestSubscriber<String> result = world.subscribe(world.lock().withLock(Mono.just("sold")));
        world.pass(OPERATION_TIMEOUT.minusMillis(1));
        assertThat(result.isTerminated()).isFalse();

        world.pass(Duration.ofMillis(1));

        assertThat(result.getReceivedOnNext()).containsExactly("sold");
        world.pass(LEASE);
    }

    @Test
    void closingWithATimerThatIsDisposedClosesTheBackEndAllTheSame() {
        Clock timer = new Clock(world.clock, new AtomicReference<>(() -> {}));
        LockClient client = world.client(builder -> builder.timer(timer).closeBackend(true));
        world.granted(client.lock(NAME).acquire());
        world.on(Operation.RELEASE).next(Fault.lostRequest().silently());
        timer.disposed.set(true);

        assertThat(world.subscribe(client.close()).isTerminatedComplete()).isTrue();
        assertThat(world.subscribe(world.store.ping()).expectTerminalError()).isNotNull();
        assertThat(client.toString()).contains(NOTHING);
    }

    @Test
    void aReleaseThatFailsWithoutATimerEnds() {
        Clock timer = new Clock(world.clock, new AtomicReference<>(() -> {}));
        LockClient client = world.client(builder -> builder.timer(timer));
        LockLease lease = world.granted(client.lock(NAME).acquire());
        timer.disposed.set(true);
        world.on(Operation.RELEASE).next(Fault.lostRequest());

        assertThat(lease.release().then(Mono.just("over")).block(SOON)).isEqualTo("over");
        assertThat(client.close().then(Mono.just("over")).block(SOON)).isEqualTo("over");
    }

    @Test
    void aLossDetectedWithoutATimerIsSignalled() {
        Clock timer = new Clock(world.clock, new AtomicReference<>(() -> {}));
        LockClient client = world.client(builder -> builder.timer(timer));
        LockLease lease = world.granted(client.lock(NAME).acquire());
        LockLease other = world.granted(client.lock("other").acquire());
        timer.disposed.set(true);
        world.subscribe(other.release());

        assertThat(lease.onLoss().block(SOON)).isEqualTo(LossReason.CLIENT_CLOSED);
        assertThat(lease.isValid()).isFalse();
        assertThat(client.close().then(Mono.just("over")).block(SOON)).isEqualTo("over");
        awaitNothingOf(client);
    }

    @Test
    void aReleaseThatIsBeingSentWhileTheClientClosesGoesOut() {
        Clock timer = new Clock(world.clock, new AtomicReference<>(() -> {}));
        AtomicReference<LockClient> closing = new AtomicReference<>();
        LockBackend backend = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return world.store;
            }

            @Override
            public Mono<Ownership> release(LockClaim claim) {
                return Mono.defer(() -> {
                    world.subscribe(closing.get().close());
                    return world.store.release(claim);
                });
            }
        };
        LockClient client =
                LockClient.builder(backend).timer(timer).closeBackend(false).build();
        closing.set(client);
        LockLease lease = world.granted(client.lock(NAME).acquire());
        timer.disposed.set(true);

        world.subscribe(lease.release());

        assertThat(world.store.contents()).isEmpty();
        assertThat(client.toString()).contains(NOTHING);
    }

    /**
     * Expects that close() of a client without its timer waits for nothing: the watch of the timers may be ending the
     * leases on its own thread.
     */
    private void awaitNothingOf(LockClient client) {
        Flux.interval(Duration.ZERO, Duration.ofMillis(5))
                .filter(tick -> client.toString().contains("0 acquiring, 0 held, 0 releasing"))
                .filter(tick -> world.store.contents().isEmpty())
                .blockFirst(SOON);
    }

    @Test
    void aPublisherThatThrowsAtTheSubscriptionIsAnErrorOfTheWork() {
        RuntimeException broken = new IllegalStateException("broken publisher");
        Publisher<String> throwing = subscriber -> {
            throw broken;
        };
        TestSubscriber<String> result = TestSubscriber.create();
        world.lock().withLockMany(lease -> throwing).subscribe(result);
        world.pass(Duration.ZERO);

        assertThat(result.expectTerminalError()).isSameAs(broken);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aLossHandlerThatThrowsDoesNotAffectOtherLeases() {
        LockLease first = world.granted(world.lock().acquire());
        LockLease second = world.granted(world.client.lock("other").acquire());
        first.onLoss().subscribe(new Throwing<>());
        world.takeAway(NAME);
        for (int i = 0; i < 6; i++) {
            world.pass(LEASE.dividedBy(3));
        }

        assertThat(second.isValid()).isTrue();
        assertThat(world.client.toString()).contains("1 held");
    }

    @Test
    void aLossIsSignalledEvenIfTheDeliverySchedulerIsDisposed() {
        Clock delivery = new Clock(world.clock, new AtomicReference<>(() -> {}));
        LockClient client = world.client(builder -> builder.deliverOn(delivery));
        TestSubscriber<Object> working = world.subscribe(client.lock(NAME).withLock(Mono.never()));
        delivery.disposed.set(true);
        world.takeAway(NAME);
        world.pass(LEASE.dividedBy(3));

        assertThat(working.expectTerminalError()).isInstanceOf(LockLostException.class);
        world.subscribe(client.close());
    }

    @Test
    void aLeaseIsDeliveredOnASchedulerThatIsFasterThanTheAcquisition() throws InterruptedException {
        CountDownLatch delivered = new CountDownLatch(1);
        AtomicReference<String> thread = new AtomicReference<>();
        Scheduler delivery = Schedulers.newSingle("delivery");
        Clock blocking = new Clock(delivery, new AtomicReference<>(() -> {}));
        blocking.afterSchedule.set(() -> LockSupport.parkNanos(20_000_000));
        LockClient client = world.client(builder -> builder.deliverOn(blocking));
        client.lock(NAME).acquire().subscribe(lease -> {
            thread.set(Thread.currentThread().getName());
            delivered.countDown();
        });

        assertThat(delivered.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(thread.get()).startsWith("delivery");
        world.subscribe(client.close());
        delivery.dispose();
    }

    @Test
    void aCancellationDuringTheGrantEventReleasesTheLease() {
        AtomicReference<TestSubscriber<LockLease>> leaving = new AtomicReference<>(TestSubscriber.create());
        LockClient client = world.client(builder -> builder.listener(event -> {
            if (event instanceof LockEvent.Acquired) {
                leaving.get().cancel();
            }
        }));
        client.lock(NAME).acquire().subscribe(leaving.get());
        world.pass(Duration.ZERO);

        assertThat(world.store.contents()).isEmpty();
        world.subscribe(client.close());
    }

    @Test
    void closingEndsAnAttemptThatIsNeverAnswered() {
        LockClient client = world.client(builder -> builder.options(
                LockOptions.builder().leaseDuration(Duration.ofSeconds(1)).build()));
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostReply().silently());
        TestSubscriber<LockLease> acquiring =
                world.subscribe(client.lock(NAME).with(LockOptions.defaults()).acquire());
        TestSubscriber<Void> closing = world.subscribe(client.close());
        world.pass(Duration.ofMillis(250));

        assertThat(closing.isTerminatedComplete()).isTrue();
        assertThat(acquiring.isTerminatedError()).isTrue();
        assertThat(client.toString()).contains(NOTHING);
        assertThat(world.store.contents()).isEmpty();
    }

    private static Fault lateFailure(Duration after) {
        Fault lost = Fault.lostRequest();
        return new Fault(false, Duration.ZERO, 0, Duration.ZERO, lost.reply(), after);
    }

    private static WatchSignal lost() {
        return new WatchSignal.Lost(LossReason.DISCONNECTED);
    }

    private LockClient over(LockBackend backend) {
        return over(backend, builder -> builder);
    }

    private LockClient over(LockBackend backend, UnaryOperator<LockClient.Builder> settings) {
        return settings.apply(LockClient.builder(backend).timer(world.clock).closeBackend(false))
                .build();
    }

    /** A back end whose signals come from the test. */
    private static class Watching implements ForwardingLockBackend {

        private final LockBackend store;
        private final Flux<WatchSignal> signals;

        Watching(LockBackend store, Flux<WatchSignal> signals) {
            this.store = store;
            this.signals = signals;
        }

        @Override
        public LockBackend delegate() {
            return store;
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return signals;
        }
    }

    /** Breaks rule 2.13 of Reactive Streams. */
    private static final class Throwing<T> implements CoreSubscriber<T> {

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(T value) {
            throw new IllegalStateException("broken subscriber on " + value);
        }

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onComplete() {}
    }

    /** Runs an action of the test when its time is read, and rejects tasks when disposed. */
    private record Clock(
            Scheduler clock,
            AtomicReference<Runnable> onNow,
            AtomicBoolean disposed,
            AtomicReference<Runnable> afterSchedule)
            implements Scheduler {

        Clock(Scheduler clock, AtomicReference<Runnable> onNow) {
            this(clock, onNow, new AtomicBoolean(), new AtomicReference<>(() -> {}));
        }

        @Override
        public long now(TimeUnit unit) {
            onNow.getAndSet(() -> {}).run();
            return clock.now(unit);
        }

        @Override
        public boolean isDisposed() {
            return disposed.get();
        }

        @Override
        public Disposable schedule(Runnable task) {
            check();
            Disposable scheduled = clock.schedule(task);
            afterSchedule.get().run();
            return scheduled;
        }

        @Override
        public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
            check();
            return clock.schedule(task, delay, unit);
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
                public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
                    check();
                    return worker.schedule(task, delay, unit);
                }

                @Override
                public void dispose() {
                    worker.dispose();
                }
            };
        }

        private void check() {
            if (disposed.get()) {
                throw new RejectedExecutionException("disposed");
            }
        }
    }
}
