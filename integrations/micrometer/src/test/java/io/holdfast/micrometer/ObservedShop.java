package io.holdfast.micrometer;

import io.holdfast.LockClient;
import io.micrometer.observation.Observation;
import io.micrometer.observation.tck.TestObservationRegistry;
import org.junit.jupiter.api.BeforeEach;
import reactor.core.publisher.Mono;

/** A test with observed locks and a recorder. */
abstract class ObservedShop {

    static final String NAME = "stock/42";

    final Shop shop = new Shop();
    final TestObservationRegistry registry = TestObservationRegistry.create();
    final Recorder recorder = new Recorder();

    /** A client without observations. */
    final LockClient plain = shop.client();

    final LockClient client = ObservedLocks.of(plain, shop.backend, registry);

    @BeforeEach
    final void record() {
        registry.observationConfig().observationHandler(recorder);
    }

    final Observation started(String name) {
        return Observation.start(name, registry);
    }

    static <T> Mono<T> under(Observation parent, Mono<T> inner) {
        return inner.contextWrite(context -> context.put(Observing.KEY, parent));
    }
}
