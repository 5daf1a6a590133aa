package io.holdfast.micrometer;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A run of every feature, and all its meters as Prometheus sees them: of the client and of its observations. */
final class Everything {

    private static final Duration SECOND = Duration.ofSeconds(1);

    final PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    final Recorder recorder = new Recorder();

    private final Shop shop = new Shop(meters);
    private final LockClient client;

    private Everything() {
        meters.config().meterFilter(new Objectives());
        ObservationRegistry observations = ObservationRegistry.create();
        observations
                .observationConfig()
                .observationHandler(new DefaultMeterObservationHandler(meters))
                .observationHandler(recorder);
        client = ObservedLocks.of(shop.client(), shop.backend, observations);
    }

    static Everything run() {
        Everything run = new Everything();
        run.endWell();
        run.handOn();
        run.endBadly();
        run.loseAndDrop();
        return run;
    }

    private ReactiveLock lock() {
        return client.lock("stock/42");
    }

    private void endWell() {
        shop.subscribe(lock().withLock(Mono.just(1)));
        shop.subscribe(client.lock("nightly-job").withLockMany(lease -> Mono.just(1)));
        shop.subscribe(
                client.all(lock(), client.lock("stock/43")).withLock(lease -> Mono.error(new IllegalStateException())));
        shop.subscribe(client.semaphore("permits/1", 2).permits(2).withLock(Mono.just(1)));
        shop.subscribe(client.readWriteLock("map/1")
                .writeLock()
                .acquire()
                .flatMap(LockLease::downgrade)
                .flatMap(LockLease::release));
        shop.subscribe(client.election("leader").lead(lease -> Mono.just(1)));
        shop.subscribe(lock().withLock(Mono.never())).cancel();
    }

    private void handOn() {
        String exported = shop.only(lock().acquire().flatMap(LockLease::export));
        shop.subscribe(client.adopt(exported).flatMap(LockLease::release));
    }

    private void endBadly() {
        LockLease held = shop.only(lock().acquire());
        shop.subscribe(lock().tryAcquire());
        shop.subscribe(
                lock().with(LockOptions.builder().waitTimeout(SECOND).build()).acquire());
        shop.pass(SECOND);
        shop.subscribe(lock().acquire()).cancel();
        shop.backend.on(Operation.RELEASE).always(Fault.refused());
        shop.subscribe(held.release());
        shop.pass(Shop.LEASE);
        shop.backend.heal();
        shop.backend.on(Operation.TRY_ACQUIRE).next(Fault.refused());
        shop.subscribe(lock().acquire());
    }

    private void loseAndDrop() {
        shop.backend.on(Operation.RENEW).always(Fault.lostRequest());
        shop.subscribe(lock().withLock(Mono.never()));
        shop.pass(Shop.LEASE);
        shop.backend.heal();
        Disposable unused = lock().acquire().map(LockLease::fencingToken).subscribe();
        Shop.collectGarbage();
        shop.pass(Shop.LEASE.dividedBy(3));
    }

    /** The same as {@code management.metrics.distribution.slo} of Spring Boot with the line on the page. */
    private static final class Objectives implements MeterFilter {

        @Override
        public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
            return LockMeterDocumentation.WAIT.getName().equals(id.getName())
                            || LockMeterDocumentation.HOLD.getName().equals(id.getName())
                    ? DistributionStatisticConfig.builder()
                            .serviceLevelObjectives(1e7, 1e8, 1e9, 1e10)
                            .build()
                            .merge(config)
                    : config;
        }
    }
}
