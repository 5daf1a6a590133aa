package io.holdfast.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.micrometer.LockObservationContext;
import io.holdfast.micrometer.LockObservationContext.Outcome;
import io.holdfast.testkit.server.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The observations of locks in a web application that adds no code for them. */
class ObservedRequestIT {

    private final Ended ended = new Ended();

    @Test
    void theRequestIsTheParentOfItsLockAndASoldOutItemIsNoErrorOfTheLock() {
        try (RedisServer stock = RedisServer.start();
                Shop shop = Shop.open("spring.profiles.active=memory", "spring.data.redis.url=" + stock.uri())) {
            shop.context()
                    .getBean(ObservationRegistry.class)
                    .observationConfig()
                    .observationHandler(ended);
            shop.customer().stock("tea", 1);
            assertThat(shop.customer().order("tea").block(Customer.LIMIT).isSold())
                    .isTrue();
            assertThat(shop.customer().order("tea").block(Customer.LIMIT).isSoldOut())
                    .isTrue();
        }

        assertThat(ended.locks)
                .extracting(LockObservationContext::outcome)
                .containsExactly(Outcome.COMPLETED, Outcome.COMPLETED, Outcome.WORK_FAILED);
        assertThat(ended.locks).allSatisfy(lock -> {
            assertThat(lock.getError()).isNull();
            assertThat(lock.getParentObservation().getContextView().getName()).isEqualTo("http.server.requests");
        });
        assertThat(ended.locks)
                .extracting(Observation.Context::getParentObservation)
                .doesNotHaveDuplicates();
    }

    @Test
    void theLinesOfTheGuideMakeBucketsOfWaitsAndLeaveObservationsOut() throws IOException {
        try (RedisServer stock = RedisServer.start();
                Shop shop = Shop.open(Stream.concat(
                                Stream.of("spring.profiles.active=memory", "spring.data.redis.url=" + stock.uri()),
                                linesOfTheGuide())
                        .toArray(String[]::new))) {
            shop.context()
                    .getBean(ObservationRegistry.class)
                    .observationConfig()
                    .observationHandler(ended);
            shop.customer().stock("tea", 1);

            assertThat(shop.context()
                            .getBean(MeterRegistry.class)
                            .get("holdfast.lock.wait")
                            .tags("lock.family", "stock", "outcome", "acquired")
                            .timer()
                            .takeSnapshot()
                            .histogramCounts())
                    .extracting(it -> it.bucket(TimeUnit.MILLISECONDS))
                    .containsExactly(10.0, 100.0, 1_000.0, 10_000.0);
        }
        assertThat(ended.locks).isEmpty();
    }

    private static Stream<String> linesOfTheGuide() throws IOException {
        return Files.readAllLines(Path.of("../../docs/guides/spring-boot.md").toAbsolutePath()).stream()
                .filter(line -> line.startsWith("management.metrics.distribution.")
                        || line.startsWith("management.observations."));
    }

    private static final class Ended implements ObservationHandler<LockObservationContext> {

        private final List<LockObservationContext> locks = new CopyOnWriteArrayList<>();

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof LockObservationContext;
        }

        @Override
        public void onStop(LockObservationContext context) {
            locks.add(context);
        }
    }
}
