package io.holdfast.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.Events;
import io.holdfast.internal.engine.Randomness;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class ClientBuilderTest {

    private final LockBackend backend = new Unused();

    @Test
    void threeOperationTimeoutsMustFitIntoTheDefaultLease() {
        LockClient.Builder builder = LockClient.builder(backend)
                .options(lease(Duration.ofSeconds(3)))
                .operationTimeout(Duration.ofMillis(1_001));

        assertThatIllegalArgumentException()
                .isThrownBy(builder::build)
                .withMessageContainingAll("operationTimeout", "PT1.001S", "leaseDuration", "PT3S");
        assertThat(builder.operationTimeout(Duration.ofSeconds(1)).build()).isNotNull();
    }

    /** BlockHound would fail the test: verticles and handlers make clients on event loops. */
    @Test
    void aClientCanBeMadeOnANonBlockingThread() {
        Mono<LockClient> made =
                Mono.fromCallable(() -> LockClient.create(backend)).subscribeOn(Schedulers.parallel());

        assertThat(made.toFuture()).succeedsWithin(Duration.ofSeconds(10));
    }

    /** Claim ids of two clients must not meet. */
    @Test
    void theClientsOfOneBuilderMakeDifferentClaimIds() {
        LockClient.Builder builder = LockClient.builder(InMemoryLockBackend.create());

        String first = startOfClaimId(builder.build(), "stock/42");
        assertThat(startOfClaimId(builder.build(), "stock/43")).isNotEqualTo(first);
    }

    /** The first half of an id has no time in it. */
    private static String startOfClaimId(LockClient client, String lock) {
        assertThat(client.lock(lock).tryAcquire().toFuture()).succeedsWithin(Duration.ofSeconds(10));
        return client.report().holds().get(0).claimId().substring(0, 16);
    }

    @Test
    void threeOperationTimeoutsMustFitIntoTheLeaseOfALock() {
        ReactiveLock lock = LockClient.builder(backend)
                .operationTimeout(Duration.ofSeconds(2))
                .build()
                .lock("stock/42");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> lock.with(lease(Duration.ofSeconds(5))))
                .withMessageContainingAll("operationTimeout", "PT2S", "leaseDuration", "PT5S");
    }

    @Test
    void theDefaultOperationTimeoutIsAQuarterOfTheLeaseAndAtMostTwoSeconds() {
        Engine engine = new Engine(
                backend,
                Schedulers.parallel(),
                null,
                new Events(null),
                null,
                Engine.NO_LIMIT,
                Randomness.ofSystem(),
                "");

        assertThat(engine.operationTimeout(lease(Duration.ofSeconds(4)))).isEqualTo(Duration.ofSeconds(1));
        assertThat(engine.operationTimeout(lease(Duration.ofSeconds(8)))).isEqualTo(Duration.ofSeconds(2));
        assertThat(engine.operationTimeout(LockOptions.defaults())).isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void anOperationTimeoutOutOfRangeIsRefusedWithItsNameAndValue() {
        LockClient.Builder builder = LockClient.builder(backend);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.operationTimeout(Duration.ofNanos(999_999)))
                .withMessageContainingAll("operationTimeout", "1 ms", "PT0.000999999S");
        Duration huge = Duration.ofSeconds(Long.MAX_VALUE);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.operationTimeout(huge).build())
                .withMessageContainingAll("operationTimeout", huge.toString(), "leaseDuration", "PT30S");
    }

    @Test
    void aKindThatTheBackEndLacksIsRefusedWhenTheLockIsMade() {
        LockClient client = LockClient.create(backend);

        assertThat(catchThrowable(() -> client.semaphore("pool", 3)))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContainingAll("unused", "semaphores");
        assertThat(catchThrowable(() -> client.readWriteLock("doc")))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContainingAll("unused", "read/write");
    }

    @Test
    void aLeaseThatTheBackEndRefusesIsRefusedWhenTheClientOrTheLockIsMade() {
        LockBackend strict = new AtMostAMinute();
        LockClient.Builder builder = LockClient.builder(strict).options(lease(Duration.ofSeconds(61)));

        assertThatIllegalArgumentException().isThrownBy(builder::build).withMessage("at most a minute, was PT1M1S");
        ReactiveLock lock = LockClient.create(strict).lock("stock/42");
        assertThat(lock.with(lease(Duration.ofSeconds(60)))).isNotNull();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> lock.with(lease(Duration.ofSeconds(61))))
                .withMessage("at most a minute, was PT1M1S");
    }

    /** The caller may correct the options and build again, or close the back end. */
    @Test
    void aRefusedClientLeavesTheBackEndToTheCaller() {
        AtomicInteger closed = new AtomicInteger();
        LockBackend own = (ForwardingLockBackend) () -> new Unused() {
            @Override
            public Mono<Void> close() {
                return Mono.fromRunnable(closed::incrementAndGet);
            }
        };
        LockClient.Builder builder = LockClient.builder(own).operationTimeout(Duration.ofSeconds(11));
        assertThatIllegalArgumentException().isThrownBy(builder::build);
        assertThat(closed).hasValue(0);

        LockClient client = builder.operationTimeout(Duration.ofSeconds(10)).build();

        assertThat(client.close().toFuture()).succeedsWithin(Duration.ofSeconds(10));
        assertThat(closed).hasValue(1);
    }

    /** A decorated back end, as in an application with metrics. */
    private record AtMostAMinute() implements ForwardingLockBackend {

        @Override
        public LockBackend delegate() {
            return (ForwardingLockBackend) () -> new Unused() {
                @Override
                public void checkLease(Duration lease) {
                    if (lease.compareTo(Duration.ofMinutes(1)) > 0) {
                        throw new IllegalArgumentException("at most a minute, was " + lease);
                    }
                }
            };
        }
    }

    @Test
    void nullIsRefusedByName() {
        LockClient.Builder builder = LockClient.builder(backend);

        assertThatNullPointerException()
                .isThrownBy(() -> LockClient.builder(null))
                .withMessage("backend");
        assertThatNullPointerException().isThrownBy(() -> builder.options(null)).withMessage("options");
        assertThatNullPointerException()
                .isThrownBy(() -> builder.operationTimeout(null))
                .withMessage("operationTimeout");
        assertThatNullPointerException().isThrownBy(() -> builder.timer(null)).withMessage("timer");
        assertThatNullPointerException()
                .isThrownBy(() -> builder.deliverOn(null))
                .withMessage("deliverOn");
        assertThatNullPointerException()
                .isThrownBy(() -> builder.listener(null))
                .withMessage("listener");
    }

    private static LockOptions lease(Duration lease) {
        return LockOptions.builder().leaseDuration(lease).build();
    }

    /** Fails at each request: building a client sends nothing. */
    private static class Unused implements LockBackend {

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            throw new AssertionError("used");
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            throw new AssertionError("used");
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            throw new AssertionError("used");
        }

        @Override
        public Set<LockFeature> features() {
            return Set.of();
        }

        @Override
        public String name() {
            return "unused";
        }

        @Override
        public Mono<Void> close() {
            return Mono.empty();
        }
    }
}
