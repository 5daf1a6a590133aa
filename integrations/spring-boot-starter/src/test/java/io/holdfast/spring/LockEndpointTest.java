package io.holdfast.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockInspector;
import io.holdfast.LockLease;
import io.holdfast.LockReport;
import io.holdfast.LossReason;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.Disposable;

/** What the endpoint reports and does, and when it exists. */
class LockEndpointTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastEndpointAutoConfiguration.class))
            .withPropertyValues(
                    "holdfast.backend=memory", "holdfast.owner=till-7", "management.endpoints.web.exposure.include=*");

    private static LockLease take(AssertableApplicationContext context, String name) {
        return requireNonNull(
                context.getBean(LockClient.class).lock(name).acquire().block(LIMIT));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> object(Object from, Object key) {
        Object value = from instanceof List<?> list ? list.get((int) key) : ((Map<String, Object>) from).get(key);
        return (Map<String, Object>) requireNonNull(value);
    }

    private static List<?> list(Object from, String key) {
        return (List<?>) requireNonNull(((Map<?, ?>) from).get(key));
    }

    @Test
    void endpointReportsLeasesAndWaitersOfTheApplication() {
        runner.run(context -> {
            LockLease lease = take(context, "stock/42");
            Disposable waiter =
                    context.getBean(LockClient.class).lock("stock/42").acquire().subscribe();

            Map<String, Object> answer = object(
                    object(context.getBean(LockEndpoint.class).report(null).block(LIMIT), "clients"),
                    "holdfastLockClient");

            assertThat(answer).containsEntry("holdCount", 1L).containsEntry("waitCount", 1L);
            assertThat(object(list(answer, "holds"), 0))
                    .containsEntry("name", "stock/42")
                    .containsEntry("token", lease.fencingToken())
                    .containsKeys("kind", "claim", "heldMillis", "leftMillis");
            assertThat(object(list(answer, "waits"), 0))
                    .containsEntry("name", "stock/42")
                    .containsKey("waitingMillis");
            waiter.dispose();
        });
    }

    @Test
    void endpointReportsTheLocksOfOneName() {
        runner.run(context -> {
            LockLease lease = take(context, "stock/42");
            LockEndpoint endpoint = context.getBean(LockEndpoint.class);

            Map<String, Object> lock =
                    object(list(requireNonNull(endpoint.report("stock/42").block(LIMIT)), "locks"), 0);

            assertThat(lock).containsEntry("name", "stock/42").containsEntry("holderCount", 1L);
            assertThat(object(list(lock, "holders"), 0))
                    .containsEntry("owner", "till-7")
                    .containsEntry("token", lease.fencingToken());
            assertThat(endpoint.report("unknown").blockOptional(LIMIT)).isEmpty();
        });
    }

    @Test
    void unknownLastTokenIsNull() {
        LockReport unknown = new LockReport(
                "a", LockReport.Type.MUTEX, 0, List.of(), 0, List.of(), OptionalLong.empty(), Map.of(), List.of());

        assertThat(EndpointText.of(unknown)).containsEntry("lastToken", null);
    }

    @Test
    void endpointBreaksTheOnlyHold() {
        runner.run(context -> {
            LockLease lease = take(context, "stock/42");
            LockEndpoint endpoint = context.getBean(LockEndpoint.class);

            assertThat(endpoint.breakHold("stock/42", null).block(LIMIT))
                    .containsEntry("name", "stock/42")
                    .containsEntry("broken", true)
                    .containsKey("holder");

            assertThat(lease.onLoss().block(LIMIT)).isEqualTo(LossReason.NOT_HELD);
            assertThat(endpoint.breakHold("stock/42", null).block(LIMIT))
                    .containsOnly(Map.entry("name", "stock/42"), Map.entry("broken", false));
        });
    }

    @Test
    void endpointBreaksOneOfSeveralHoldsOnlyByItsClaim() {
        runner.run(context -> {
            LockClient locks = context.getBean(LockClient.class);
            List<LockLease> leases = List.of(
                    requireNonNull(locks.semaphore("tills", 2).acquire().block(LIMIT)),
                    requireNonNull(locks.semaphore("tills", 2).acquire().block(LIMIT)));
            LockEndpoint endpoint = context.getBean(LockEndpoint.class);
            String name = "tills";

            assertThatThrownBy(() -> endpoint.breakHold(name, null).block(LIMIT))
                    .isInstanceOf(InvalidEndpointRequestException.class);
            String claim = locks.report().holds().get(1).claimId();
            assertThat(endpoint.breakHold(name, claim).block(LIMIT)).containsEntry("broken", true);

            assertThat(leases.get(1).onLoss().block(LIMIT)).isEqualTo(LossReason.NOT_HELD);
            assertThat(leases.get(0).isValid()).isTrue();
        });
    }

    @Test
    void anInvalidNameIsRefused() {
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(LockEndpoint.class).report(" ").block(LIMIT))
                .isInstanceOf(InvalidEndpointRequestException.class));
    }

    /** Only the starter's own back ends have an inspector. For another back end, the application must define one. */
    @Test
    void aBackEndOfTheApplicationNeedsAnInspectorOfTheApplication() {
        InMemoryLockBackend mine = InMemoryLockBackend.create();
        ApplicationContextRunner own = runner.withBean(LockBackend.class, () -> mine);
        own.run(context -> assertThatThrownBy(
                        () -> context.getBean(LockEndpoint.class).report("a").block(LIMIT))
                .isInstanceOf(InvalidEndpointRequestException.class));
        own.withBean(LockInspector.class, mine::inspector).run(context -> {
            LockLease unused = take(context, "a");
            assertThat(context.getBean(LockEndpoint.class).report("a").blockOptional(LIMIT))
                    .isPresent();
        });
    }

    @Test
    void eachClientOfTheApplicationIsReported() {
        runner.withBean("one", LockClient.class, () -> LockClient.create(InMemoryLockBackend.create()))
                .withBean("two", LockClient.class, () -> LockClient.create(InMemoryLockBackend.create()))
                .run(context -> assertThat(object(
                                context.getBean(LockEndpoint.class).report(null).block(LIMIT), "clients"))
                        .containsOnlyKeys("one", "two"));
    }

    /** Nothing would close such a client. */
    @Test
    void theEndpointMakesNoClient() {
        runner.withBean("one", LockClient.class, () -> LockClient.create(InMemoryLockBackend.create()))
                .withBean(
                        "another",
                        LockClient.class,
                        () -> LockClient.create(InMemoryLockBackend.create()),
                        definition -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE))
                .run(context -> assertThat(object(
                                context.getBean(LockEndpoint.class).report(null).block(LIMIT), "clients"))
                        .containsOnlyKeys("one"));
    }

    @Test
    void endpointIsMissingUnlessTheApplicationExposesIt() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=health")
                .run(context -> assertThat(context).doesNotHaveBean(LockEndpoint.class));
        runner.withPropertyValues("management.endpoint.holdfast.access=NONE")
                .run(context -> assertThat(context).doesNotHaveBean(LockEndpoint.class));
        runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(LockClient.class));
    }

    /** The inspector does not connect at the start, nor for the report of the application's clients. */
    @Test
    void theInspectorIsMadeOnItsFirstUse() {
        runner.withPropertyValues("holdfast.backend=redis", "holdfast.redis.uri=redis://127.0.0.1:1")
                .run(context -> {
                    assertThat(context.getBean(LockEndpoint.class).report(null).block(LIMIT))
                            .isNotEmpty();
                    assertThat(context.getBeanFactory().containsSingleton("holdfastLockInspector"))
                            .isFalse();
                });
    }
}
