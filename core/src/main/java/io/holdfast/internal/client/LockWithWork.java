package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.internal.guard.Guarded;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What one lock and several locks have in common: work under them. */
abstract class LockWithWork<L> {

    public abstract Mono<L> acquire();

    public final <T> Mono<T> withLock(Mono<? extends T> work) {
        requireNonNull(work, "work");
        return withLock(lease -> work);
    }

    public final <T> Mono<T> withLock(Function<? super L, ? extends Mono<? extends T>> work) {
        return Guarded.one(acquire(), requireNonNull(work, "work"));
    }

    public final <T> Flux<T> withLockMany(Function<? super L, ? extends Publisher<? extends T>> work) {
        return Guarded.many(acquire(), requireNonNull(work, "work"));
    }
}
