package io.holdfast.micrometer;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.memory.InMemoryLockBackend;
import io.micrometer.context.ContextRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.micrometer.observation.tck.TestObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * With Reactor's automatic context propagation, the work under a lock sees the thread-local variables of its own subscriber, on any thread
 * that hands the lock off.
 */
@Isolated("the hooks of Reactor concern the whole JVM")
class ThreadLocalsTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final String KEY = "tenant";
    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    private final Scheduler signals = Schedulers.newSingle("signals");

    @BeforeAll
    static void propagate() {
        ContextRegistry.getInstance().registerThreadLocalAccessor(KEY, TENANT);
        Hooks.enableAutomaticContextPropagation();
    }

    @AfterAll
    static void propagateNoMore() {
        Hooks.disableAutomaticContextPropagation();
        var unused = ContextRegistry.getInstance().removeThreadLocalAccessor(KEY);
    }

    @AfterEach
    void forget() {
        TENANT.remove();
        signals.dispose();
    }

    /** A way to run work under a lock. Each names the tenant for which it runs. */
    private enum Form {
        WITH_LOCK {
            @Override
            Mono<String> run(LockClient locks, ReactiveLock lock) {
                return lock.withLock(lease -> Mono.just(String.valueOf(TENANT.get())));
            }
        },
        CALLABLE {
            @Override
            Mono<String> run(LockClient locks, ReactiveLock lock) {
                return lock.withLock(Mono.fromCallable(() -> String.valueOf(TENANT.get())));
            }
        },
        WITH_LOCK_MANY {
            @Override
            Mono<String> run(LockClient locks, ReactiveLock lock) {
                return lock.withLockMany(lease -> Flux.just(String.valueOf(TENANT.get())))
                        .next();
            }
        },
        ALL {
            @Override
            Mono<String> run(LockClient locks, ReactiveLock lock) {
                return locks.all(lock, locks.lock("another"))
                        .withLock(leases -> Mono.just(String.valueOf(TENANT.get())));
            }
        },
        ALL_MANY {
            @Override
            Mono<String> run(LockClient locks, ReactiveLock lock) {
                return locks.all(lock, locks.lock("another"))
                        .withLockMany(leases -> Flux.just(String.valueOf(TENANT.get())))
                        .next();
            }
        },
        LEAD {
            @Override
            Mono<String> run(LockClient locks, ReactiveLock lock) {
                return locks.election(lock.name())
                        .lead(lease -> Flux.just(String.valueOf(TENANT.get())))
                        .next();
            }
        },
        ACQUIRE {
            @Override
            Mono<String> run(LockClient locks, ReactiveLock lock) {
                return lock.acquire().flatMap(lease -> {
                    String tenant = String.valueOf(TENANT.get());
                    return lease.release().thenReturn(tenant);
                });
            }
        };

        abstract Mono<String> run(LockClient locks, ReactiveLock lock);
    }

    private static Stream<Form> forms() {
        return Stream.of(Form.values());
    }

    private LockClient plain() {
        return LockClient.create(InMemoryLockBackend.create());
    }

    private LockClient delivering() {
        return LockClient.builder(InMemoryLockBackend.create())
                .deliverOn(signals)
                .build();
    }

    private LockClient observed() {
        InMemoryLockBackend backend = InMemoryLockBackend.create();
        return ObservedLocks.of(LockClient.create(backend), backend, TestObservationRegistry.create());
    }

    @ParameterizedTest
    @MethodSource("forms")
    void workSeesTheTenantOfItsOwnSubscriber(Form form) {
        List.<Supplier<LockClient>>of(this::plain, this::delivering, this::observed)
                .forEach(client -> workSeesItsTenant(client.get(), form));
    }

    /** A release of another tenant hands the lock off. The last waiter has no tenant. */
    private void workSeesItsTenant(LockClient locks, Form form) {
        ReactiveLock lock = locks.lock("stock/42");
        TENANT.set("releaser");
        LockLease held = requireNonNull(lock.acquire().block(LIMIT));
        List<Mono<String>> seen = IntStream.range(0, 4)
                .mapToObj(waiter -> waiting(form.run(locks, lock), waiter < 3 ? "waiter " + waiter : null))
                .toList();

        TENANT.set("releaser");
        held.release().contextCapture().block(LIMIT);

        assertThat(Flux.concat(seen).collectList().block(LIMIT))
                .as("%s with %s", form, locks)
                .containsExactly("waiter 0", "waiter 1", "waiter 2", "null");
        locks.close().block(LIMIT);
    }

    /** Subscribes in a request of the tenant, on its thread. */
    private static Mono<String> waiting(Mono<String> work, @Nullable String tenant) {
        if (tenant == null) {
            TENANT.remove();
        } else {
            TENANT.set(tenant);
        }
        Mono<String> shared = Mono.fromFuture(work.contextCapture().toFuture());
        TENANT.remove();
        return shared;
    }

    /** An election has a mutex. */
    private static Stream<Form> formsOfASemaphore() {
        return forms().filter(form -> form != Form.LEAD);
    }

    @ParameterizedTest
    @MethodSource("formsOfASemaphore")
    void workUnderASemaphoreSeesTheTenantOfItsOwnSubscriber(Form form) {
        LockClient locks = plain();
        ReactiveLock permit = locks.semaphore("connections", 1);
        TENANT.set("releaser");
        LockLease held = requireNonNull(permit.acquire().block(LIMIT));
        Mono<String> seen = waiting(form.run(locks, permit), "waiter");

        TENANT.set("releaser");
        held.release().contextCapture().block(LIMIT);

        assertThat(seen.block(LIMIT)).isEqualTo("waiter");
        locks.close().block(LIMIT);
    }

    /** Log lines of the work have the span of its lock. */
    @Test
    void theObservationOfTheLockIsCurrentInItsWork() {
        InMemoryLockBackend backend = InMemoryLockBackend.create();
        ObservationRegistry registry = ObservationRegistry.create();
        registry.observationConfig().observationHandler(context -> true);
        ObservationRegistry before =
                ObservationThreadLocalAccessor.getInstance().getObservationRegistry();
        ObservationThreadLocalAccessor.getInstance().setObservationRegistry(registry);
        try {
            ReactiveLock lock = ObservedLocks.of(LockClient.create(backend), backend, registry)
                    .lock("stock/42");
            LockLease held = requireNonNull(
                    LockClient.create(backend).lock("stock/42").acquire().block(LIMIT));
            Mono<String> seen = waiting(
                    lock.withLock(Mono.fromCallable(() -> requireNonNull(registry.getCurrentObservation())
                            .getContextView()
                            .getName())),
                    "waiter");
            held.release().block(LIMIT);

            assertThat(seen.block(LIMIT)).isEqualTo("holdfast.lock");
        } finally {
            ObservationThreadLocalAccessor.getInstance().setObservationRegistry(before);
        }
    }
}
