package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.micrometer.observation.Observation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** The parents and the children of an observation. */
class ObservedParentsTest extends ObservedShop {

    private final List<Observation> seenByWork = new ArrayList<>();

    @Test
    void theParentComesFromTheContextAndTheWorkIsNestedInTheObservation() {
        Observation request = started("request");
        AtomicReference<Observation> seenByWork = new AtomicReference<>();
        AtomicReference<String> value = new AtomicReference<>();
        Mono<String> work = Mono.deferContextual(context -> {
            seenByWork.set(context.get(Observing.KEY));
            value.set(context.get("key"));
            return Mono.just("done");
        });
        shop.only(under(request, client.lock(NAME).withLock(work)).contextWrite(it -> it.put("key", "value")));

        LockObservationContext observed = recorder.stopped.get(0);
        assertThat(observed.getParentObservation()).isSameAs(request);
        assertThat(seenByWork.get().getContext()).isSameAs(observed);
        assertThat(value).hasValue("value");
        request.stop();
    }

    @Test
    void observationsOfTheWorkAreItsChildren() {
        shop.subscribe(
                client.lock(NAME).withLock(lease -> client.lock("orders/1").withLock(Mono.just(1))));

        LockObservationContext inner = recorder.stopped.get(0);
        LockObservationContext outer = recorder.stopped.get(1);
        assertThat(inner.lockName()).isEqualTo("orders/1");
        assertThat(inner.getParentObservation().getContextView()).isSameAs(outer);
    }

    @Test
    void theRequestsForTheLockSeeTheObservation() {
        List<Observation> seen = new ArrayList<>();
        LockBackend seeing = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return shop.store;
            }

            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                return Mono.deferContextual(context -> {
                    seen.add(context.get(Observing.KEY));
                    return shop.store.tryAcquire(claim);
                });
            }
        };
        LockClient observed =
                ObservedLocks.of(LockClient.builder(seeing).timer(shop.clock).build(), seeing, registry);
        shop.only(observed.lock(NAME).acquire());
        shop.subscribe(observed.lock("stock/43").withLock(Mono.just(1)));

        assertThat(seen).hasSize(2);
        assertThat(seen.get(0).getContext()).isSameAs(recorder.started.get(0));
        assertThat(seen.get(1).getContext()).isSameAs(recorder.started.get(1));
    }

    @Test
    void twoConcurrentAcquisitionsAreNotMixedUp() {
        Observation first = started("first");
        Observation second = started("second");
        LockLease held = shop.only(under(first, client.lock(NAME).acquire()));
        TestSubscriber<LockLease> waiting =
                shop.subscribe(under(second, client.lock(NAME).acquire()));
        assertThat(recorder.started).hasSize(2);
        assertThat(recorder.stopped).hasSize(1);

        shop.subscribe(held.release());

        assertThat(waiting.getReceivedOnNext()).hasSize(1);
        assertThat(recorder.stopped)
                .extracting(LockObservationContext::getParentObservation)
                .containsExactly(first, second);
        assertThat(recorder.stopped)
                .extracting(it -> it.fencingToken().orElseThrow())
                .containsExactly(1L, 2L);
        assertThat(recorder.outcomes()).isEqualTo("acquired acquired");
    }

    @Test
    void everyKindOfLockHasTheParentOfItsSubscriber() {
        Observation request = started("request");
        ReactiveLock plainLock = client.lock(NAME);
        ReactiveLock permits = client.semaphore("permits/1", 3).permits(2);
        ReactiveLock write = client.readWriteLock("map/1").writeLock();
        ReactiveMultiLock both = client.all(client.lock("stock/1"), client.lock("stock/2"));
        shop.subscribe(under(request, plainLock.acquire().flatMap(LockLease::release)));
        shop.subscribe(under(request, plainLock.tryAcquire().flatMap(LockLease::release)));
        shop.subscribe(under(request, plainLock.withLockMany(lease -> seen()).next()));
        shop.subscribe(under(request, permits.withLock(lease -> seen())));
        shop.subscribe(
                under(request, write.acquire().flatMap(LockLease::downgrade).flatMap(LockLease::release)));
        shop.subscribe(under(request, both.acquire().flatMap(MultiLease::release)));
        shop.subscribe(under(request, both.withLock(leases -> seen())));
        shop.subscribe(under(request, both.withLockMany(leases -> seen()).next()));

        assertThat(recorder.stopped)
                .hasSize(8)
                .allSatisfy(it -> assertThat(it.getParentObservation()).isSameAs(request));
        assertThat(seenByWork)
                .hasSize(4)
                .extracting(Observation::getContext)
                .containsExactlyElementsOf(recorder.stopped.stream()
                        .filter(it -> it.operation() == LockObservationContext.Operation.WITH_LOCK)
                        .toList());
        request.stop();
    }

    @Test
    void unobservedLocksKeepTheObservationOfTheSubscriberInTheContext() {
        Observation request = started("request");
        Flux<Object> term = client.election("leader").lead(lease -> seen());
        shop.subscribe(under(request, term.next()));
        String exported = shop.only(under(request, client.lock(NAME).acquire().flatMap(LockLease::export)));
        shop.subscribe(under(request, client.adopt(exported).flatMap(lease -> seen().then(lease.release()))));

        assertThat(recorder.stopped).hasSize(1);
        assertThat(seenByWork).containsExactly(request, request);
        request.stop();
    }

    private Mono<Object> seen() {
        return Mono.deferContextual(context -> {
            seenByWork.add(context.get(Observing.KEY));
            return Mono.just("done");
        });
    }
}
