package io.holdfast.internal.guard;

import java.util.function.Function;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/** The operator behind {@code withLock}. */
public final class GuardedMono<L, T> extends Mono<T> {

    private final Mono<L> acquire;
    private final Function<? super L, ? extends Mono<T>> work;

    private GuardedMono(Mono<L> acquire, Function<? super L, ? extends Mono<T>> work) {
        this.acquire = acquire;
        this.work = work;
    }

    public static <L, T> Mono<T> of(Mono<L> acquire, Function<? super L, ? extends Mono<T>> work) {
        return onAssembly(new GuardedMono<>(acquire, work));
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> subscriber) {
        subscriber.onSubscribe(Guard.ofOne(acquire, work, subscriber));
    }
}
