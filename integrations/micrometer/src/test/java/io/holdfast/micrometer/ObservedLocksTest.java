package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

class ObservedLocksTest extends ObservedShop {

    @Test
    void withLockIsOneObservationWithItsKeyValues() {
        shop.subscribe(client.lock(NAME).withLock(Mono.just(1)));

        TestObservationRegistryAssert.assertThat(registry)
                .hasNumberOfObservationsEqualTo(1)
                .hasObservationWithNameEqualTo("holdfast.lock")
                .that()
                .hasContextualNameEqualTo("with lock stock")
                .hasLowCardinalityKeyValue("backend", "memory")
                .hasLowCardinalityKeyValue("lock.family", "stock")
                .hasLowCardinalityKeyValue("lock.kind", "mutex")
                .hasLowCardinalityKeyValue("operation", "with_lock")
                .hasLowCardinalityKeyValue("outcome", "completed")
                .hasHighCardinalityKeyValue("lock.name", NAME)
                .hasHighCardinalityKeyValue("lock.fencing.token", "1")
                .hasBeenStarted()
                .hasBeenStopped();
        assertThat(recorder.calls).containsExactly("start", "acquired", "/acquired", "stop");
    }

    @Test
    void eachObservationNamesTheKindOfItsLock() {
        var both = client.readWriteLock("catalogue");
        shop.subscribe(both.readLock().with(LockOptions.defaults()).withLock(Mono.just(1)));
        shop.subscribe(both.writeLock().withLock(Mono.just(1)));
        shop.subscribe(client.semaphore("seats", 3).withLock(Mono.just(1)));
        shop.subscribe(client.semaphore("seats", 3).permits(2).withLock(Mono.just(1)));

        assertThat(recorder.stopped)
                .extracting(it -> it.getLowCardinalityKeyValue("lock.kind").getValue())
                .containsExactly("read", "write", "semaphore", "semaphore");
    }

    @Test
    void locksThatAreTakenTogetherAreOneObservation() {
        var both = client.all(client.lock(NAME), client.lock("orders/1"));
        shop.subscribe(both.withLock(Mono.just(1)));

        TestObservationRegistryAssert.assertThat(registry)
                .hasNumberOfObservationsEqualTo(1)
                .hasObservationWithNameEqualTo("holdfast.lock")
                .that()
                .hasContextualNameEqualTo("with lock other")
                .hasLowCardinalityKeyValue("lock.kind", "several")
                .hasLowCardinalityKeyValue("outcome", "completed")
                .hasHighCardinalityKeyValue("lock.name", "orders/1, " + NAME);
        assertThat(recorder.calls).containsExactly("start", "acquired", "/acquired", "stop");
    }

    @Test
    void theAcquisitionOfLocksThatAreTakenTogetherEndsWithTheirLeases() {
        var both = client.all(client.lock(NAME), client.lock("stock/43"));
        MultiLease leases = shop.only(both.acquire());
        shop.subscribe(leases.release());

        TestObservationRegistryAssert.assertThat(registry)
                .hasNumberOfObservationsEqualTo(1)
                .hasObservationWithNameEqualTo("holdfast.lock")
                .that()
                .hasContextualNameEqualTo("acquire stock")
                .hasLowCardinalityKeyValue("outcome", "acquired");
    }

    @Test
    void manyElementsAreOneObservation() {
        TestSubscriber<Integer> subscriber = shop.subscribe(client.lock(NAME).withLockMany(lease -> Flux.range(1, 3)));

        assertThat(subscriber.getReceivedOnNext()).containsExactly(1, 2, 3);
        assertThat(recorder.outcomes()).isEqualTo("completed");
    }

    @Test
    void aSubscriberThatCancelsBeforeItsRequestIsNotObserved() {
        TestSubscriber<LockLease> subscriber =
                TestSubscriber.builder().initialRequest(0).build();
        client.lock(NAME).acquire().subscribe(subscriber);
        subscriber.cancel();

        assertThat(recorder.calls).isEmpty();
    }

    @Test
    void nestingWorksThroughObservedLocks() {
        Mono<Long> nested = client.lock(NAME).withLock(lease -> Mono.just(lease.fencingToken()));
        Mono<List<Long>> tokens =
                client.lock(NAME).withLock(lease -> nested.map(inner -> List.of(lease.fencingToken(), inner)));

        assertThat(shop.only(tokens)).containsExactly(1L, 1L);
        assertThat(shop.gauge("held", "stock")).isZero();
    }

    @Test
    void otherKindsAndOptionsAreObserved() {
        shop.subscribe(client.readWriteLock(NAME).readLock().withLock(Mono.just(1)));
        shop.subscribe(client.readWriteLock(NAME).writeLock().withLock(Mono.just(1)));
        shop.subscribe(client.semaphore(NAME, 2)
                .with(LockOptions.defaults())
                .withLock(lease -> client.semaphore(NAME, 2).current()));
        shop.subscribe(client.semaphore(NAME, 2).permits(2).withLock(Mono.just(1)));

        assertThat(recorder.outcomes()).isEqualTo("completed completed completed completed");
        assertThat(shop.subscribe(client.ping()).isTerminatedComplete()).isTrue();
    }

    @Test
    void aDroppedLeaseIsFoundAndReleased() {
        Disposable unused =
                client.lock(NAME).acquire().map(LockLease::fencingToken).subscribe();
        Shop.collectGarbage();
        shop.pass(Shop.LEASE.dividedBy(3));

        assertThat(shop.store.contents()).isEmpty();
        assertThat(shop.counter("abandoned")).isEqualTo(1);
        assertThat(recorder.stopped).hasSize(1);
    }

    @Test
    void aCancellationDuringAnEventStopsTheObservationAfterIt() {
        TestSubscriber<Integer> subscriber = TestSubscriber.create();
        recorder.onEvent = subscriber::cancel;
        client.lock(NAME).withLock(Mono.just(1)).subscribe(subscriber);
        shop.pass(Duration.ZERO);

        assertThat(recorder.calls).containsExactly("start", "acquired", "/acquired", "stop");
        assertThat(recorder.outcomes()).isEqualTo("work_cancelled");
        assertThat(shop.store.contents()).isEmpty();
    }

    @Test
    void aLeaseDroppedByACancelledFutureIsReleased() {
        AtomicReference<CompletableFuture<LockLease>> future = new AtomicReference<>(new CompletableFuture<>());
        // The thread is in a sleep within cancel(): the future has ended, but no handler was called yet.
        recorder.onStop = () -> {
            boolean unused = future.get().completeExceptionally(new CancellationException());
        };
        LockLease held = shop.only(plain.lock(NAME).acquire());
        future.set(client.lock(NAME).acquire().toFuture());
        shop.subscribe(held.release());
        shop.pass(Duration.ZERO);

        assertThat(future.get()).isCancelled();
        assertThat(shop.store.contents()).isEmpty();
    }

    @Test
    void aHandlerThatThrowsCostsNoLease() {
        ObservationRegistry broken = ObservationRegistry.create();
        broken.observationConfig().observationHandler(new BrokenHandler());
        LockClient observed = ObservedLocks.of(plain, shop.backend, broken);

        assertThat(shop.only(observed.lock(NAME).withLock(Mono.just(1)))).isEqualTo(1);
        shop.subscribe(shop.only(observed.lock(NAME).acquire()).release());
        assertThat(shop.store.contents()).isEmpty();
    }

    @Test
    void nothingIsObservedWithoutAHandler() {
        registry.observationConfig().observationPredicate((name, context) -> !name.equals("holdfast.lock"));
        Observation request = started("request");
        AtomicReference<Observation> seenByWork = new AtomicReference<>();
        Mono<Integer> work = Mono.deferContextual(context -> {
            seenByWork.set(context.get(Observing.KEY));
            return Mono.just(1);
        });
        shop.subscribe(under(request, client.lock(NAME).withLock(work)));
        LockClient noop = ObservedLocks.of(plain, shop.backend, ObservationRegistry.NOOP);
        shop.subscribe(noop.lock(NAME).withLockMany(lease -> Flux.just(1)));

        assertThat(recorder.calls).isEmpty();
        assertThat(seenByWork).hasValue(request);
        request.stop();
    }

    @Test
    void namesCanBeSet() {
        LockClient observed = ObservedLocks.builder(plain, shop.backend, registry)
                .families(LockFamilies.of(name -> "mine"))
                .convention(new LockObservationConvention() {
                    @Override
                    public String getName() {
                        return "my.lock";
                    }
                })
                .build();
        shop.subscribe(observed.lock(NAME).tryAcquire());

        TestObservationRegistryAssert.assertThat(registry)
                .hasObservationWithNameEqualTo("my.lock")
                .that()
                .hasContextualNameEqualTo("try acquire mine")
                .hasLowCardinalityKeyValue("lock.family", "mine");
    }

    @Test
    void aConventionOfTheBuilderHasPrecedenceOverTheGlobalOne() {
        registry.observationConfig().observationConvention(new GlobalConvention());
        LockClient observed = ObservedLocks.builder(plain, shop.backend, registry)
                .convention(new LockObservationConvention() {
                    @Override
                    public String getName() {
                        return "my.lock";
                    }
                })
                .build();
        shop.subscribe(observed.lock(NAME).tryAcquire());
        shop.subscribe(client.lock(NAME).tryAcquire());

        assertThat(recorder.stopped).extracting(Observation.Context::getName).containsExactly("my.lock", "global.lock");
    }

    private static final class GlobalConvention
            implements LockObservationConvention, GlobalObservationConvention<LockObservationContext> {

        @Override
        public String getName() {
            return "global.lock";
        }
    }

    private static final class BrokenHandler implements ObservationHandler<Observation.Context> {

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }

        @Override
        public void onStart(Observation.Context context) {
            throw new IllegalStateException("broken");
        }

        @Override
        public void onEvent(Observation.Event event, Observation.Context context) {
            throw new IllegalStateException("broken");
        }

        @Override
        public void onStop(Observation.Context context) {
            throw new IllegalStateException("broken");
        }
    }
}
