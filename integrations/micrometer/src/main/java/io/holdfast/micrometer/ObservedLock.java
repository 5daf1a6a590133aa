package io.holdfast.micrometer;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.micrometer.LockObservationContext.Operation;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A lock that observes each subscription. It delegates everything to the lock. */
class ObservedLock implements ReactiveLock {

    private final ReactiveLock lock;
    private final Observing observing;
    private final LockKind kind;
    private final Observing.Subject subject;

    ObservedLock(ReactiveLock lock, LockKind kind, Observing observing) {
        this.lock = lock;
        this.observing = observing;
        this.kind = kind;
        subject = new Observing.Subject(kind, List.of(lock.name()));
    }

    final ReactiveLock unobserved() {
        return lock;
    }

    @Override
    public String name() {
        return lock.name();
    }

    @Override
    public ReactiveLock with(LockOptions options) {
        return new ObservedLock(lock.with(options), kind, observing);
    }

    @Override
    public Mono<LockLease> tryAcquire() {
        return new ObservedMono<>(observing, Operation.TRY_ACQUIRE, subject, watched -> lock.tryAcquire());
    }

    @Override
    public Mono<LockLease> acquire() {
        return new ObservedMono<>(observing, Operation.ACQUIRE, subject, watched -> lock.acquire());
    }

    @Override
    public <T> Mono<T> withLock(Mono<? extends T> work) {
        requireNonNull(work, "work");
        return withLock(lease -> work);
    }

    @Override
    public <T> Mono<T> withLock(Function<? super LockLease, ? extends Mono<? extends T>> work) {
        requireNonNull(work, "work");
        return new ObservedMono<>(
                observing, Operation.WITH_LOCK, subject, watched -> lock.withLock(telling(watched, work)));
    }

    @Override
    public <T> Flux<T> withLockMany(Function<? super LockLease, ? extends Publisher<? extends T>> work) {
        requireNonNull(work, "work");
        return new ObservedFlux<>(
                observing, Operation.WITH_LOCK, subject, watched -> lock.withLockMany(telling(watched, work)));
    }

    private static <P> Function<LockLease, P> telling(
            @Nullable Watched watched, Function<? super LockLease, ? extends P> work) {
        return lease -> {
            if (watched != null) {
                watched.acquired(lease.fencingToken());
            }
            return work.apply(lease);
        };
    }

    @Override
    public Mono<LockLease> current() {
        return lock.current();
    }

    @Override
    public String toString() {
        return "observed " + lock;
    }
}
