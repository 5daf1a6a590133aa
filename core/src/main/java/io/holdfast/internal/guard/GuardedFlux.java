package io.holdfast.internal.guard;

import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** The operator behind {@code withLockMany}. */
public final class GuardedFlux<L, T> extends Flux<T> {

    private final Mono<L> acquire;
    private final Function<? super L, ? extends Publisher<T>> work;

    private GuardedFlux(Mono<L> acquire, Function<? super L, ? extends Publisher<T>> work) {
        this.acquire = acquire;
        this.work = work;
    }

    public static <L, T> Flux<T> of(Mono<L> acquire, Function<? super L, ? extends Publisher<T>> work) {
        return onAssembly(new GuardedFlux<>(acquire, work));
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> subscriber) {
        // The loss arrives on another thread than the elements.
        CoreSubscriber<? super T> serialized = Operators.serialize(subscriber);
        serialized.onSubscribe(Guard.ofMany(acquire, work, serialized));
    }
}
