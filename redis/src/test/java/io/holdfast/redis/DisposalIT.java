package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A subscriber that leaves at any instant leaves nothing behind and delays no waiter. */
class DisposalIT {

    private static final Duration SOON = Duration.ofMillis(3);

    /**
     * The cost of a grant that no client takes. A grant that is not pushed would cost half of that, a third of a lease.
     */
    private static final Duration LONG_CLAIM_TIME = Duration.ofSeconds(20);

    @RegisterExtension
    final ClientOverRedis redis = new ClientOverRedis();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void disposingAtAThousandRandomInstantsLeavesNothingAndDelaysNoWaiter(boolean contended) {
        redis.claimTime(LONG_CLAIM_TIME);
        Random random = new Random(42);
        ReactiveLock lock = redis.client.lock("orders");
        await(lock.withLock(Mono.just(1)));
        long slowest = 0;
        for (int i = 0; i < 1_000; i++) {
            LockLease holder = contended ? redis.acquired(redis.rival, "orders") : null;
            AtomicReference<Object> emitted = new AtomicReference<>();
            Disposable leaving = (random.nextBoolean() ? lock.acquire() : lock.tryAcquire())
                    .subscribe(lease -> keepUnlessLeft(emitted, lease));
            spin(random.nextInt(400_000));
            leaving.dispose();
            if (holder != null) {
                await(holder.release());
            }
            if (emitted.getAndSet("left") instanceof LockLease lease) {
                await(lease.release()); // emitted before the disposal, so the subscriber must release it
            }
            long asked = System.nanoTime();
            await(redis.acquired(redis.rival, "orders").release());
            slowest = Math.max(slowest, System.nanoTime() - asked);
        }
        assertThat(Duration.ofNanos(slowest))
                .as("far below any lease or claim time")
                .isLessThan(LONG_CLAIM_TIME.dividedBy(4));
        eventually(() -> redis.keysButCounters().isEmpty());
        redis.eventuallyIdle();
    }

    /** The subscriber had received the lease when it was disposed of. Then the subscriber must release it. */
    private static void keepUnlessLeft(AtomicReference<Object> emitted, LockLease lease) {
        if (!emitted.compareAndSet(null, lease)) {
            lease.release().subscribe();
        }
    }

    private static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    static Stream<Named<Function<Mono<Object>, Mono<?>>>> losingOperators() {
        return Stream.of(
                Named.of("timeout", work -> work.timeout(SOON)),
                Named.of(
                        "take",
                        work -> work.flux().mergeWith(Mono.delay(SOON)).take(1).next()),
                Named.of("firstWithSignal", work -> Mono.firstWithSignal(work, Mono.delay(SOON))),
                Named.of("zip", work -> Mono.zip(work, Mono.delay(SOON).then(Mono.error(new IllegalStateException())))),
                Named.of(
                        "switchMap",
                        work -> Flux.just(1, 2)
                                .delayElements(SOON)
                                .switchMap(n -> n == 1 ? work : Mono.just(n))
                                .then()));
    }

    @ParameterizedTest
    @MethodSource("losingOperators")
    void withLockUnderALosingOperatorLeavesNothing(Function<Mono<Object>, Mono<?>> losing) {
        Mono<Object> slow = redis.client.lock("orders").withLock(Mono.never());
        for (int i = 0; i < 50; i++) {
            await(losing.apply(slow).then().onErrorComplete());
        }
        eventually(() -> redis.keysButCounters().isEmpty());
        redis.eventuallyIdle();
    }

    @Test
    void aBareLeaseThatAnOperatorDroppedIsReleasedAfterTheNextGarbageCollection() {
        LockOptions shortLease =
                LockOptions.builder().leaseDuration(Duration.ofSeconds(3)).build();
        ReactiveLock lock = redis.client.lock("orders").with(shortLease);
        CompletableFuture<Object> other = new CompletableFuture<>();
        CompletableFuture<Object> zipped = Mono.zip(lock.acquire(), Mono.fromFuture(other))
                .cast(Object.class)
                .onErrorReturn("dropped")
                .toFuture();
        eventually(() -> redis.events.stream().anyMatch(LockEvent.Acquired.class::isInstance));
        other.completeExceptionally(new IllegalStateException("of the test"));
        assertThat(zipped.join()).isEqualTo("dropped");
        assertThat(redis.store.isHeld(Store.holderKey("orders"))).isTrue();

        // Again and again: a thread that has just handed the lease over may refer to it for a moment.
        eventually(() -> {
            System.gc();
            return redis.keysButCounters().isEmpty();
        });
        eventually(() -> abandoned() > 0);
        assertThat(abandoned()).isOne();
        assertThat(List.of(lock)).hasSize(1); // the lock itself is still in use
    }

    private long abandoned() {
        return redis.events.stream()
                .filter(LockEvent.LeaseAbandoned.class::isInstance)
                .count();
    }
}
