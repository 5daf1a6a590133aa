package io.holdfast.micrometer;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.micrometer.LockObservationContext.Operation;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Locks that are taken together. It observes each subscription as one, and delegates everything to these locks. */
final class ObservedMultiLock implements ReactiveMultiLock {

    private final ReactiveMultiLock locks;
    private final Observing observing;
    private final Observing.Subject subject;

    ObservedMultiLock(ReactiveMultiLock locks, Observing observing) {
        this.locks = locks;
        this.observing = observing;
        subject = new Observing.Subject(null, locks.names());
    }

    @Override
    public List<String> names() {
        return locks.names();
    }

    @Override
    public ReactiveMultiLock with(LockOptions options) {
        return new ObservedMultiLock(locks.with(options), observing);
    }

    @Override
    public Mono<MultiLease> tryAcquire() {
        return new ObservedMono<>(observing, Operation.TRY_ACQUIRE, subject, watched -> locks.tryAcquire());
    }

    @Override
    public Mono<MultiLease> acquire() {
        return new ObservedMono<>(observing, Operation.ACQUIRE, subject, watched -> locks.acquire());
    }

    @Override
    public <T> Mono<T> withLock(Mono<? extends T> work) {
        requireNonNull(work, "work");
        return withLock(leases -> work);
    }

    @Override
    public <T> Mono<T> withLock(Function<? super MultiLease, ? extends Mono<? extends T>> work) {
        requireNonNull(work, "work");
        return new ObservedMono<>(
                observing, Operation.WITH_LOCK, subject, watched -> locks.withLock(telling(watched, work)));
    }

    @Override
    public <T> Flux<T> withLockMany(Function<? super MultiLease, ? extends Publisher<? extends T>> work) {
        requireNonNull(work, "work");
        return new ObservedFlux<>(
                observing, Operation.WITH_LOCK, subject, watched -> locks.withLockMany(telling(watched, work)));
    }

    private static <P> Function<MultiLease, P> telling(
            @Nullable Watched watched, Function<? super MultiLease, ? extends P> work) {
        return leases -> {
            if (watched != null) {
                watched.acquired(leases.leases().get(0).fencingToken());
            }
            return work.apply(leases);
        };
    }

    @Override
    public String toString() {
        return "observed " + locks;
    }
}
