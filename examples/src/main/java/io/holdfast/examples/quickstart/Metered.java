package io.holdfast.examples.quickstart;

import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.micrometer.LockFamilies;
import io.holdfast.micrometer.LockMetrics;
import io.holdfast.micrometer.ObservedLocks;
import io.holdfast.spi.LockBackend;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

/** The lines of the page about metrics. */
final class Metered {

    private Metered() {}

    static LockClient over(LockBackend backend, MeterRegistry meters, ObservationRegistry observations) {
        // README: begin
        LockFamilies families = LockFamilies.beforeSlash(); // "stock" for "stock/42"
        LockListener metrics =
                LockMetrics.builder(meters, backend).families(families).build();
        LockClient client = LockClient.builder(backend).listener(metrics).build();
        LockClient locks = ObservedLocks.builder(client, backend, observations)
                .families(families)
                .build();
        // README: end
        return locks;
    }
}
