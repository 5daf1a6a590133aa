package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.internal.guard.GuardedFlux;
import io.holdfast.internal.guard.GuardedMono;
import io.holdfast.internal.multi.MultiAcquireMono;
import io.holdfast.internal.multi.MultiLockSettings;
import io.holdfast.spi.support.Printable;
import java.util.List;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The settings of several locks, and the operators made from them. */
final class DefaultMultiLock implements ReactiveMultiLock {

    private final MultiLockSettings settings;

    DefaultMultiLock(MultiLockSettings settings) {
        this.settings = settings;
    }

    @Override
    public List<String> names() {
        return settings.names();
    }

    @Override
    public ReactiveMultiLock with(LockOptions options) {
        return new DefaultMultiLock(settings.with(requireNonNull(options, "options")));
    }

    @Override
    public Mono<MultiLease> tryAcquire() {
        return new MultiAcquireMono(settings, false);
    }

    @Override
    public Mono<MultiLease> acquire() {
        return new MultiAcquireMono(settings, true);
    }

    @Override
    public <T> Mono<T> withLock(Mono<T> work) {
        requireNonNull(work, "work");
        return withLock(leases -> work);
    }

    @Override
    public <T> Mono<T> withLock(Function<? super MultiLease, ? extends Mono<T>> work) {
        return GuardedMono.of(acquire(), requireNonNull(work, "work"));
    }

    @Override
    public <T> Flux<T> withLockMany(Function<? super MultiLease, ? extends Publisher<T>> work) {
        return GuardedFlux.of(acquire(), requireNonNull(work, "work"));
    }

    @Override
    public String toString() {
        return "ReactiveMultiLock" + Printable.text(names().toString());
    }
}
