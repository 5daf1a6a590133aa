package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.testkit.FaultyLockBackend;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** A back end in virtual time with faults on demand, a registry, and clients. */
final class Shop {

    static final Duration LEASE = Duration.ofSeconds(30);

    final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    final InMemoryLockBackend store = InMemoryLockBackend.create(clock);
    final FaultyLockBackend backend = FaultyLockBackend.over(store, clock);
    final MeterRegistry registry;
    final LockMetrics metrics;

    Shop() {
        this(new SimpleMeterRegistry());
    }

    Shop(MeterRegistry registry) {
        this.registry = registry;
        metrics = LockMetrics.of(registry, backend);
    }

    LockClient client() {
        return client(builder -> builder);
    }

    LockClient client(UnaryOperator<LockClient.Builder> settings) {
        return settings.apply(LockClient.builder(backend)
                        .timer(clock)
                        .listener(metrics)
                        .closeBackend(false))
                .build();
    }

    void pass(Duration time) {
        clock.advanceTimeBy(time);
    }

    @CanIgnoreReturnValue
    <T> TestSubscriber<T> subscribe(Publisher<T> publisher) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        publisher.subscribe((CoreSubscriber<? super T>) subscriber);
        pass(Duration.ZERO);
        return subscriber;
    }

    @CanIgnoreReturnValue
    <T> T only(Publisher<T> publisher) {
        TestSubscriber<T> subscriber = subscribe(publisher);
        assertThat(subscriber.getReceivedOnNext()).hasSize(1);
        return subscriber.getReceivedOnNext().get(0);
    }

    double gauge(String name, String family) {
        return registry.get("holdfast.lock." + name)
                .tags("backend", "memory", "lock.family", family)
                .gauge()
                .value();
    }

    double held(String kind) {
        return registry.get("holdfast.lock.held")
                .tags("lock.kind", kind)
                .gauge()
                .value();
    }

    double counter(String name, String... tags) {
        return registry.get("holdfast.lock." + name).tags(tags).counter().count();
    }

    long timer(String name, String outcome) {
        return registry.get("holdfast.lock." + name)
                .tags("outcome", outcome)
                .timer()
                .count();
    }

    /** Collects garbage until the witness is collected. Then earlier dropped objects are not reachable any more either. */
    static void collectGarbage() {
        WeakReference<Object> witness = new WeakReference<>(new Object());
        BooleanSupplier gone = () -> witness.get() == null;
        for (int i = 0; i < 50 && !gone.getAsBoolean(); i++) {
            System.gc();
        }
        assertThat(gone.getAsBoolean()).isTrue();
    }
}
