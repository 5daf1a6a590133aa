package io.holdfast.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.server.RedisServer;
import io.micrometer.context.ContextRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;

/** With {@code spring.reactor.context-propagation=auto}, work under a lock in Redis sees the thread-local variables of its own request. */
class ThreadLocalsIT {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    private static RedisServer server;

    @BeforeAll
    static void propagate() {
        server = RedisServer.start();
        ContextRegistry.getInstance().registerThreadLocalAccessor("tenant", TENANT);
        Hooks.enableAutomaticContextPropagation();
    }

    @AfterAll
    static void propagateNoMore() {
        Hooks.disableAutomaticContextPropagation();
        var unused = ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
        server.close();
    }

    @AfterEach
    void forget() {
        TENANT.remove();
    }

    private static Mono<String> requestOf(String tenant, Mono<String> work) {
        TENANT.set(tenant);
        Mono<String> shared = Mono.fromFuture(work.contextCapture().toFuture());
        TENANT.remove();
        return shared;
    }

    @ParameterizedTest
    @CsvSource({"event-loop, false", "threads, false", "event-loop, true", "threads, true"})
    void workSeesTheTenantOfItsOwnRequest(String where, boolean isObserved) {
        ApplicationContextRunner runner = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        HoldfastAutoConfiguration.class, HoldfastMicrometerAutoConfiguration.class))
                .withPropertyValues(
                        "holdfast.backend=redis", "holdfast.redis.uri=" + server.uri(), "holdfast.deliver-on=" + where);
        (isObserved ? runner.withBean(ObservationRegistry.class, ObservationRegistry::create) : runner).run(context -> {
            LockClient locks = context.getBean(LockClient.class);
            ReactiveLock lock = locks.lock("stock/42");
            LockLease held = requireNonNull(lock.acquire().block(LIMIT));
            List<Mono<String>> seen = Stream.of(
                            requestOf("one", lock.withLock(Mono.fromCallable(TENANT::get))),
                            requestOf("two", lock.withLock(lease -> Mono.just(String.valueOf(TENANT.get())))),
                            requestOf(
                                    "three",
                                    lock.withLockMany(lease -> Flux.just(String.valueOf(TENANT.get())))
                                            .next()),
                            requestOf(
                                    "four",
                                    locks.all(lock, locks.lock("stock/43"))
                                            .withLock(leases -> Mono.just(String.valueOf(TENANT.get())))))
                    .toList();

            TENANT.set("releaser");
            held.release().contextCapture().block(LIMIT);

            assertThat(Flux.concat(seen).collectList().block(LIMIT)).containsExactly("one", "two", "three", "four");
        });
    }
}
