package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.micrometer.LockFamilies;
import io.holdfast.micrometer.LockMetrics;
import io.holdfast.micrometer.LockObservationContext;
import io.holdfast.micrometer.LockObservationConvention;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What an application with a registry sees of its locks without code of its own. */
class MetersAndObservationsTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastMicrometerAutoConfiguration.class))
            .withPropertyValues("holdfast.backend=memory");

    @Test
    void aMeterRegistryHasTheMetersOfTheClient() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        runner.withBean(MeterRegistry.class, () -> meters)
                .withBean(LockFamilies.class, () -> LockFamilies.of(name -> "all"))
                .run(context -> {
                    use(context.getBean(LockClient.class));

                    assertThat(meters.get("holdfast.lock.hold")
                                    .tags("backend", "memory", "lock.family", "all", "outcome", "released")
                                    .timer()
                                    .count())
                            .isOne();
                });
    }

    @Test
    void anObservationRegistryHasTheObservationsOfTheClient() {
        TestObservationRegistry observations = TestObservationRegistry.create();
        runner.withBean(ObservationRegistry.class, () -> observations).run(context -> {
            use(context.getBean(LockClient.class));

            TestObservationRegistryAssert.assertThat(observations)
                    .hasObservationWithNameEqualTo("holdfast.lock")
                    .that()
                    .hasBeenStopped()
                    .hasLowCardinalityKeyValue("lock.family", "stock");
            assertThat(context).doesNotHaveBean(LockMetrics.class);
        });
    }

    @Test
    void aConventionOfTheApplicationNamesTheObservationsInTheFamiliesOfTheApplication() {
        TestObservationRegistry observations = TestObservationRegistry.create();
        observations.observationConfig().observationConvention(new Named("of.the.registry"));
        runner.withBean(ObservationRegistry.class, () -> observations)
                .withBean(LockFamilies.class, () -> LockFamilies.of(name -> "all"))
                .withBean(LockObservationConvention.class, () -> new Named("my.lock"))
                .run(context -> {
                    use(context.getBean(LockClient.class));

                    TestObservationRegistryAssert.assertThat(observations)
                            .hasNumberOfObservationsEqualTo(1)
                            .hasObservationWithNameEqualTo("my.lock")
                            .that()
                            .hasLowCardinalityKeyValue("lock.family", "all");
                });
    }

    private record Named(String name)
            implements LockObservationConvention, GlobalObservationConvention<LockObservationContext> {

        @Override
        public String getName() {
            return name;
        }
    }

    @Test
    void aClientOfTheApplicationIsLeftAsItIs() {
        LockClient mine = LockClient.create(InMemoryLockBackend.create());
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(LockClient.class, () -> mine)
                .run(context -> {
                    assertThat(context).getBean(LockClient.class).isSameAs(mine);
                    assertThat(context).doesNotHaveBean(LockMetrics.class);
                });
    }

    private static void use(LockClient locks) {
        StepVerifier.create(locks.lock("stock/42").withLock(Mono.just(1)))
                .expectNext(1)
                .expectComplete()
                .verify(Duration.ofSeconds(10));
    }
}
