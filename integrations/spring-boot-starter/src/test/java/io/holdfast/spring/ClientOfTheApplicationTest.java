package io.holdfast.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockListener;
import io.holdfast.LockQueueFullException;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.health.contributor.CompositeReactiveHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthContributor;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What the client of an application does: options, listeners, the end, health. */
class ClientOfTheApplicationTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastHealthAutoConfiguration.class))
            .withPropertyValues("holdfast.backend=memory");

    interface Lines {
        void write(String line);
    }

    /** Records the order in which things end. */
    private record Diary(LockBackend delegate, Lines lines) implements ForwardingLockBackend {

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim).doOnSubscribe(s -> lines.write("attempt"));
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return delegate.release(claim).doOnNext(answer -> lines.write("released"));
        }

        @Override
        public Mono<Void> close() {
            return delegate.close().doOnSuccess(nothing -> lines.write("closed"));
        }
    }

    /** Defined as an application would define it: Spring calls a public {@code close()}, and waits for its result. */
    @Configuration(proxyBeanMethods = false)
    static class WithDiary {

        @Bean
        LockBackend diary(Lines lines) {
            return new Diary(InMemoryLockBackend.create(), lines);
        }
    }

    /** A bean that fails after the client was made. */
    static final class Broken {
        Broken(LockClient locks) {
            throw new IllegalStateException("broken, with " + locks);
        }
    }

    /** An application without a database. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = R2dbcAutoConfiguration.class)
    static class Application {}

    @Test
    void aPropertyBoundsTheAcquisitionsThatAreUnderWay() {
        runner.withPropertyValues("holdfast.max-waiters=1").run(context -> {
            LockClient locks = context.getBean(LockClient.class);
            assertThat(locks.lock("a").tryAcquire().block(LIMIT)).isNotNull();
            Disposable waiter = locks.lock("a").acquire().subscribe();

            StepVerifier.create(locks.lock("b").acquire())
                    .expectError(LockQueueFullException.class)
                    .verify(LIMIT);
            waiter.dispose();
        });
    }

    @Test
    void optionsComeFromTheProperties() {
        runner.withPropertyValues("holdfast.wait-timeout=0s", "holdfast.reentrant=false")
                .run(context -> {
                    LockClient locks = context.getBean(LockClient.class);
                    StepVerifier.create(locks.lock("a").acquire())
                            .expectNextCount(1)
                            .verifyComplete();

                    StepVerifier.create(locks.lock("a").acquire())
                            .expectError(LockTimeoutException.class)
                            .verify(LIMIT);
                    StepVerifier.create(locks.lock("b").withLock(locks.lock("b").withLock(Mono.just(1))))
                            .expectError(IllegalStateException.class)
                            .verify(LIMIT);
                });
    }

    @ParameterizedTest
    @CsvSource({"false, 4", "true, 2"})
    void waitersShareOneClaimIfThePropertySaysSo(String value, int attempts) {
        List<String> lines = new CopyOnWriteArrayList<>();
        runner.withUserConfiguration(WithDiary.class)
                .withBean(Lines.class, () -> lines::add)
                .withPropertyValues("holdfast.local-hand-over=" + value)
                .run(context -> {
                    ReactiveLock lock = context.getBean(LockClient.class).lock("a");
                    LockLease held = requireNonNull(lock.acquire().block(LIMIT));
                    List<Disposable> waiting = IntStream.range(0, 3)
                            .mapToObj(i -> lock.acquire().subscribe())
                            .toList();

                    assertThat(lines).containsOnly("attempt").hasSize(attempts);

                    waiting.forEach(Disposable::dispose);
                    held.release().block(LIMIT);
                });
    }

    /** Databases, ZooKeeper and etcd have no token floors. */
    @ParameterizedTest
    @CsvSource({"TOKEN_FLOOR, 0", "FIFO, 1"})
    @ExtendWith(OutputCaptureExtension.class)
    void aLocalHandOverWithoutAnEffectIsLogged(LockFeature only, int lines, CapturedOutput output) {
        LockBackend backend = new ForwardingLockBackend() {

            private final LockBackend memory = InMemoryLockBackend.create();

            @Override
            public LockBackend delegate() {
                return memory;
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(only);
            }
        };
        runner.withBean(LockBackend.class, () -> backend)
                .withPropertyValues("holdfast.local-hand-over=true")
                .run(context -> assertThat(context).hasSingleBean(LockClient.class));

        assertThat(output.getOut().lines().filter(it -> it.contains("local-hand-over changes nothing")))
                .hasSize(lines);
    }

    @ParameterizedTest
    @CsvSource({
        "spring.application.name=order service, 'order-service:.*:[0-9]+'",
        "holdfast.owner=till-7, till-7",
        "any=thing, '.+:.+:[0-9]+'"
    })
    void ownerComesFromThePropertyOrTheNameOfTheApplication(String property, String label) {
        runner.withPropertyValues(property).run(context -> {
            LockLease held = requireNonNull(
                    context.getBean(LockClient.class).lock("a").acquire().block(LIMIT));

            StepVerifier.create(context.getBean(LockBackend.class)
                            .holders(LockKey.of(LockKind.MUTEX, "a"))
                            .map(LockHolder::owner))
                    .assertNext(owner -> assertThat(owner).matches(label))
                    .verifyComplete();
            held.release().block(LIMIT);
        });
    }

    /** Each property of type Duration in the metadata of the starter. */
    @Test
    void aDurationWithoutAUnitIsInSeconds() throws IOException {
        List<String> durations = durationProperties();
        assertThat(durations).contains("holdfast.lease-duration", "holdfast.redlock.quarantine");
        Stream<String> profile = Stream.of(
                        "lease-duration",
                        "wait-timeout",
                        "max-hold-time",
                        "min-hold-time",
                        "backoff.first",
                        "backoff.max")
                .map("holdfast.locks.any."::concat);
        List<String> all = Stream.concat(durations.stream(), profile).toList();
        for (String property : all) {
            var source = new MapConfigurationPropertySource(Map.of(property, "40"));
            HoldfastProperties bound = new Binder(source)
                    .bind("holdfast", HoldfastProperties.class)
                    .get();
            assertThat(bound.toString() + bound.redlock() + bound.zookeeper() + bound.etcd())
                    .as(property)
                    .contains("PT40S");
        }
    }

    private List<String> durationProperties() throws IOException {
        URL file = getClass().getClassLoader().getResource("META-INF/spring-configuration-metadata.json");
        try (var in = file.openStream()) {
            String json = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return Pattern.compile("\"name\": \"(holdfast[^\"]+)\",\\s+\"type\": \"java.time.Duration\"")
                    .matcher(json)
                    .results()
                    .map(found -> found.group(1))
                    .toList();
        }
    }

    @Test
    void aUnitIsRespected() {
        runner.withPropertyValues("holdfast.lease-duration=12s", "holdfast.wait-timeout=250ms")
                .run(context -> {
                    HoldfastProperties properties = context.getBean(HoldfastProperties.class);
                    assertThat(properties.leaseDuration()).isEqualTo(Duration.ofSeconds(12));
                    assertThat(properties.waitTimeout()).isEqualTo(Duration.ofMillis(250));
                });
    }

    @Test
    void everyListenerIsNotifiedAndEveryCustomizerIsCalled() {
        List<LockEvent> first = new CopyOnWriteArrayList<>();
        List<LockEvent> second = new CopyOnWriteArrayList<>();
        List<LockEvent> third = new CopyOnWriteArrayList<>();
        List<String> asked = new ArrayList<>();
        runner.withBean("first", LockListener.class, () -> first::add)
                .withBean("second", LockListener.class, () -> second::add)
                .withBean(LockClientCustomizer.class, () -> builder -> {
                    asked.add("customizer");
                    return builder.operationTimeout(Duration.ofSeconds(1)).listener(third::add);
                })
                .run(context -> {
                    StepVerifier.create(
                                    context.getBean(LockClient.class).lock("a").withLock(Mono.just(1)))
                            .expectNext(1)
                            .expectComplete()
                            .verify(LIMIT);

                    assertThat(first).isNotEmpty().isEqualTo(second).isEqualTo(third);
                    assertThat(asked).containsExactly("customizer");
                });
    }

    @Test
    void theEndReleasesLeasesAndThenClosesTheBackEnd() {
        List<String> lines = new CopyOnWriteArrayList<>();
        runner.withUserConfiguration(WithDiary.class)
                .withBean(Lines.class, () -> lines::add)
                .run(context -> {
                    LockLease lease = context.getBean(LockClient.class)
                            .lock("a")
                            .acquire()
                            .block(LIMIT);

                    context.close();

                    StepVerifier.create(lease.onLoss())
                            .expectNext(LossReason.CLIENT_CLOSED)
                            .expectComplete()
                            .verify(LIMIT);
                    assertThat(lines).containsExactly("attempt", "released", "closed");
                });
    }

    @Test
    void anApplicationThatDoesNotStartLeavesNothingOpen() {
        List<String> lines = new CopyOnWriteArrayList<>();
        runner.withUserConfiguration(WithDiary.class)
                .withBean(Lines.class, () -> lines::add)
                .withBean(Broken.class)
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(lines).containsExactly("closed");
                });
    }

    /** The refused client did not close the back end, which is a bean of its own. */
    @Test
    void aClientWhoseOptionsAreRefusedLeavesNothingOpen() {
        List<String> lines = new CopyOnWriteArrayList<>();
        runner.withUserConfiguration(WithDiary.class)
                .withBean(Lines.class, () -> lines::add)
                .withPropertyValues("holdfast.lease-duration=1s", "holdfast.operation-timeout=1s")
                .run(context -> {
                    assertThat(context).getFailure().hasStackTraceContaining("three operation timeouts");
                    assertThat(lines).containsExactly("closed");
                });
    }

    @Test
    void locksEndAfterTheWebServerAndBeforeConnections() {
        runner.run(
                context -> assertThat(context.getBean(LockClientLifecycle.class).getPhase())
                        .isLessThan(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE)
                        .isLessThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE)
                        .isPositive());
    }

    @Test
    void aPausedContextGoesOnWithItsLeases() {
        runner.run(context -> {
            LockLease lease =
                    context.getBean(LockClient.class).lock("a").acquire().block(LIMIT);

            context.getSourceApplicationContext().pause();
            context.getSourceApplicationContext().restart();

            assertThat(lease.isValid()).isTrue();
        });
    }

    @Test
    void healthIsUpWhileTheBackEndAnswersAndDownWhenItDoesNot() {
        InMemoryLockBackend backend = InMemoryLockBackend.create();
        runner.withBean(LockBackend.class, () -> backend).run(context -> {
            ReactiveHealthIndicator health = context.getBean(ReactiveHealthIndicator.class);
            assertThat(health.health().map(Health::getStatus).block(LIMIT)).isEqualTo(Status.UP);

            StepVerifier.create(backend.close()).expectComplete().verify(LIMIT);

            assertThat(health.health().map(Health::getStatus).block(LIMIT)).isEqualTo(Status.DOWN);
        });
    }

    @Test
    void healthOfSeveralClientsIsReportedOneByOne() {
        runner.withBean("one", LockClient.class, () -> LockClient.create(InMemoryLockBackend.create()))
                .withBean("two", LockClient.class, () -> LockClient.create(InMemoryLockBackend.create()))
                .run(context -> assertThat(context)
                        .getBean("holdfastHealthContributor")
                        .isInstanceOf(CompositeReactiveHealthContributor.class));
    }

    @Test
    void anApplicationFindsTheAutoConfigurations() {
        new ReactiveWebApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .withPropertyValues("holdfast.backend=memory")
                .run(context ->
                        assertThat(context).hasSingleBean(LockClient.class).hasBean("holdfastHealthContributor"));
    }

    @Test
    void healthCanBeTurnedOff() {
        runner.withPropertyValues("management.health.holdfast.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(ReactiveHealthContributor.class));
    }

    @Test
    void healthNeedsNoActuator() {
        new ReactiveWebApplicationContextRunner()
                .withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
                .withUserConfiguration(Application.class)
                .withPropertyValues(
                        "holdfast.backend=memory",
                        // Spring still sees these on the class path, since it reads their list from elsewhere.
                        "spring.autoconfigure.exclude=org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration,org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration,org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration,org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(LockClient.class));
    }

    @Test
    void everyPropertyIsDescribedForEditors() throws IOException {
        URL file = getClass().getClassLoader().getResource("META-INF/spring-configuration-metadata.json");
        try (var in = file.openStream()) {
            String json = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(json)
                    .contains("\"holdfast.backend\"", "\"holdfast.redlock.quarantine\"", "Where locks are kept.")
                    .contains("\"holdfast.enabled\"", "\"holdfast.deliver-on\"", "\"holdfast.locks\"");
        }
    }
}
