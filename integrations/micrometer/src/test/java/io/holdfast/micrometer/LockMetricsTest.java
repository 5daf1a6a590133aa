package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

class LockMetricsTest {

    private static final String NAME = "stock/42";
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final LockOptions PATIENT_FOR_A_SECOND =
            LockOptions.builder().waitTimeout(SECOND).build();

    private final Shop shop = new Shop();
    private final LockClient client = shop.client();

    @Test
    void waitAndHoldAreTimed() {
        LockLease first = shop.only(client.lock(NAME).acquire());
        TestSubscriber<Integer> second = shop.subscribe(client.lock(NAME).withLock(Mono.just(1)));
        shop.pass(SECOND);

        assertThat(shop.gauge("held", "stock")).isEqualTo(1);
        assertThat(shop.gauge("waiting", "stock")).isEqualTo(1);
        shop.subscribe(first.release());

        assertThat(second.isTerminatedComplete()).isTrue();
        assertThat(shop.gauge("held", "stock")).isZero();
        assertThat(shop.gauge("waiting", "stock")).isZero();
        assertThat(shop.timer("wait", "acquired")).isEqualTo(2);
        assertThat(shop.timer("hold", "released")).isEqualTo(2);
        assertThat(shop.registry
                        .get("holdfast.lock.wait")
                        .tags("backend", "memory", "lock.family", "stock", "outcome", "acquired")
                        .timer()
                        .totalTime(TimeUnit.MILLISECONDS))
                .isEqualTo(1000);
    }

    @Test
    void readersWritersAndPermitsAreCountedApart() {
        shop.only(client.readWriteLock(NAME).readLock().acquire());
        shop.subscribe(client.readWriteLock(NAME).writeLock().acquire());
        shop.only(client.semaphore(NAME, 2).acquire());

        assertThat(shop.held("read") + " " + shop.held("write") + " " + shop.held("semaphore"))
                .isEqualTo("1.0 0.0 1.0");
    }

    @Test
    void aWriterThatBecomesAReaderIsCountedAsAWriterUntilItsEnd() {
        LockLease writer = shop.only(client.readWriteLock(NAME).writeLock().acquire());
        LockLease reader = shop.only(writer.downgrade());
        assertThat(shop.held("write")).isEqualTo(1);
        shop.subscribe(reader.release());

        assertThat(shop.held("write")).isZero();
    }

    @Test
    void aTimeOutIsCountedAndTimed() {
        LockLease held = shop.only(client.lock(NAME).acquire());
        shop.subscribe(client.lock(NAME).with(PATIENT_FOR_A_SECOND).acquire());
        shop.pass(SECOND);

        assertThat(shop.counter("timeouts", "lock.family", "stock")).isEqualTo(1);
        assertThat(shop.timer("wait", "timeout")).isEqualTo(1);
        assertThat(shop.gauge("waiting", "stock")).isZero();
        assertThat(held.isValid()).isTrue();
    }

    @Test
    void notAvailableCancelledClosedAndFailedAreOutcomesOfTheWait() {
        LockLease held = shop.only(client.lock(NAME).acquire());
        shop.subscribe(client.lock(NAME).tryAcquire());
        shop.subscribe(client.lock(NAME).acquire()).cancel();
        shop.backend.on(Operation.TRY_ACQUIRE).next(Fault.refused());
        shop.subscribe(client.lock(NAME).acquire());
        shop.subscribe(client.lock(NAME).acquire());
        shop.subscribe(client.close());

        assertThat(shop.timer("wait", "not_available")).isEqualTo(1);
        assertThat(shop.timer("wait", "cancelled")).isEqualTo(1);
        assertThat(shop.timer("wait", "failed")).isEqualTo(1);
        assertThat(shop.timer("wait", "closed")).isEqualTo(1);
        assertThat(shop.counter("attempt.failures")).isEqualTo(1);
        assertThat(shop.counter("losses", "reason", "client_closed")).isEqualTo(1);
        assertThat(shop.gauge("waiting", "stock")).isZero();
        assertThat(shop.gauge("held", "stock")).isZero();
        assertThat(held.isValid()).isFalse();
    }

    @Test
    void aLossIsCountedByItsReason() {
        LockLease held = shop.only(client.lock(NAME).acquire());
        shop.backend.on(Operation.RENEW).always(Fault.lostRequest());
        shop.pass(Shop.LEASE);

        assertThat(held.isValid()).isFalse();
        assertThat(shop.counter("losses", "reason", "expired")).isEqualTo(1);
        assertThat(shop.counter("losses", "reason", "not_held")).isZero();
        assertThat(shop.counter("renewal.failures")).isPositive();
        assertThat(shop.timer("hold", "lost")).isEqualTo(1);
        assertThat(shop.gauge("held", "stock")).isZero();
    }

    @Test
    void unconfirmedRequestsAreCounted() {
        LockLease held = shop.only(client.lock(NAME).acquire());
        shop.backend.on(Operation.RELEASE).always(Fault.refused());
        shop.subscribe(held.release());
        shop.pass(Shop.LEASE);
        shop.only(client.lock(NAME).acquire());
        shop.subscribe(client.lock(NAME).acquire()).cancel();
        shop.pass(Duration.ZERO);

        assertThat(shop.counter("unconfirmed", "operation", "release")).isEqualTo(1);
        assertThat(shop.counter("unconfirmed", "operation", "withdrawal")).isEqualTo(1);
        assertThat(shop.timer("hold", "unconfirmed")).isEqualTo(1);
    }

    @Test
    void anExportedLeaseIsNotHeldAnyMore() {
        String exported = shop.only(client.lock(NAME).acquire().flatMap(LockLease::export));
        assertThat(shop.timer("hold", "handed_on")).isEqualTo(1);
        assertThat(shop.gauge("held", "stock")).isZero();

        shop.subscribe(shop.only(client.adopt(exported)).release());
        assertThat(shop.timer("hold", "released")).isEqualTo(1);
        assertThat(shop.gauge("held", "stock")).isZero();
    }

    @Test
    void anAbandonedLeaseIsNotHeldAnyMore() {
        Disposable unused =
                client.lock(NAME).acquire().map(LockLease::fencingToken).subscribe();
        Shop.collectGarbage();
        shop.pass(Shop.LEASE.dividedBy(3));

        assertThat(shop.counter("abandoned")).isEqualTo(1);
        assertThat(shop.timer("hold", "abandoned")).isEqualTo(1);
        assertThat(shop.timer("hold", "released")).isZero();
        assertThat(shop.gauge("held", "stock")).isZero();
    }

    @Test
    void namesOfManyCustomersDoNotMakeManyTags() {
        for (int i = 0; i < 500; i++) {
            shop.subscribe(client.lock("customer" + i + "/order").withLock(Mono.just(1)));
            shop.subscribe(client.lock("secret" + i).withLock(Mono.just(1)));
        }
        Set<String> values = shop.registry.getMeters().stream()
                .map(Meter::getId)
                .flatMap(id -> id.getTags().stream())
                .map(Tag::getValue)
                .collect(Collectors.toSet());
        assertThat(values).noneMatch(value -> value.contains("/"));
        assertThat(values)
                .filteredOn(value -> value.startsWith("customer") || value.startsWith("secret"))
                .hasSize(LockFamilies.DEFAULT_LIMIT);
    }

    @Test
    void theMetersOfAFamilyExistWithItsFirstLock() {
        shop.subscribe(client.lock(NAME).acquire());
        int first = shop.registry.getMeters().size();
        shop.subscribe(client.lock("stock/43").tryAcquire());
        shop.subscribe(client.lock(NAME).tryAcquire());

        assertThat(shop.registry.getMeters()).hasSize(first);
        assertThat(shop.counter("timeouts", "backend", "memory")).isZero();
    }

    @Test
    void tagsAndFamiliesCanBeSet() {
        LockMetrics metrics = LockMetrics.builder(shop.registry, shop.backend)
                .families(LockFamilies.of(name -> "mine"))
                .tags(Tags.of("client", "second"))
                .build();
        LockClient second = shop.client(builder -> builder.listener(metrics));
        shop.subscribe(second.lock(NAME).withLock(Mono.just(1)));

        assertThat(shop.registry
                        .get("holdfast.lock.hold")
                        .tags("client", "second", "lock.family", "mine", "outcome", "released")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void severalClientsShareTheirMeters() {
        LockClient second = shop.client();
        shop.only(client.lock("stock/1").acquire());
        shop.only(second.lock("stock/2").acquire());

        assertThat(shop.gauge("held", "stock")).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void gaugesAreZeroWhenAllCallsHaveEnded(long seed) {
        RandomDay day = new RandomDay(shop, seed);
        day.pass(600);
        shop.backend.heal();
        shop.subscribe(day.client.close());
        shop.pass(Duration.ofMinutes(5));
        day.deliver();

        assertThat(shop.gauge("waiting", "stock")).as("waiting").isZero();
        assertThat(shop.gauge("held", "stock")).as("held").isZero();
        assertThat(day.stories.broken()).isEmpty();
        assertThat(shop.timer("wait", "acquired")).isGreaterThan(10);
    }
}
