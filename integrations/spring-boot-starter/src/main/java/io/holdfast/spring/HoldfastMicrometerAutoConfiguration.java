package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.micrometer.LockFamilies;
import io.holdfast.micrometer.LockMetrics;
import io.holdfast.micrometer.LockObservationConvention;
import io.holdfast.micrometer.ObservedLocks;
import io.holdfast.spi.LockBackend;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Adds meters if there is a {@link MeterRegistry}, and observations if there is an {@link ObservationRegistry}, when the application has
 * {@code holdfast-micrometer}. Both are for the {@link LockClient} of the auto-configuration, not for a client that the application
 * defines. A {@link LockFamilies} bean decides the families of locks, and a {@link LockObservationConvention} bean the names of their
 * observations.
 */
@AutoConfiguration(
        after = HoldfastAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
            // Spring Boot 3
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration"
        })
@ConditionalOnClass(LockMetrics.class)
@ConditionalOnBean(LockClientConfiguration.class)
public final class HoldfastMicrometerAutoConfiguration {

    /** Called by Spring Boot. */
    public HoldfastMicrometerAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LockFamilies holdfastLockFamilies() {
        return LockFamilies.beforeSlash();
    }

    @Bean
    @ConditionalOnBean(MeterRegistry.class)
    @ConditionalOnMissingBean
    LockMetrics holdfastLockMetrics(MeterRegistry meters, LockBackend backend, LockFamilies families) {
        return LockMetrics.builder(meters, backend).families(families).build();
    }

    @Bean
    @ConditionalOnBean(ObservationRegistry.class)
    LockClientDecorator holdfastObservedLocks(
            ObservationRegistry observations,
            LockFamilies families,
            ObjectProvider<LockObservationConvention> conventions) {
        return (client, backend) -> {
            ObservedLocks.Builder locks =
                    ObservedLocks.builder(client, backend, observations).families(families);
            LockObservationConvention names = conventions.getIfAvailable();
            return (names == null ? locks : locks.convention(names)).build();
        };
    }
}
