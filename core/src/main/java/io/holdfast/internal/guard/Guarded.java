package io.holdfast.internal.guard;

import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** The operators behind {@code withLock} and {@code withLockMany}, of one lock or of several. */
public final class Guarded {

    private Guarded() {}

    public static <L, T> Mono<T> one(Mono<L> acquire, Function<? super L, ? extends Mono<? extends T>> work) {
        var one = new Mono<T>() {

            @Override
            public void subscribe(CoreSubscriber<? super T> subscriber) {
                subscriber.onSubscribe(new Guard<>(acquire, work, subscriber, false));
            }

            Mono<T> assembled() {
                return onAssembly(this);
            }
        };
        return one.assembled();
    }

    public static <L, T> Flux<T> many(Mono<L> acquire, Function<? super L, ? extends Publisher<? extends T>> work) {
        var many = new Flux<T>() {

            @Override
            public void subscribe(CoreSubscriber<? super T> subscriber) {
                // The loss arrives on another thread than the elements.
                CoreSubscriber<? super T> serialized = Operators.serialize(subscriber);
                serialized.onSubscribe(new Guard<>(acquire, work, serialized, true));
            }

            Flux<T> assembled() {
                return onAssembly(this);
            }
        };
        return many.assembled();
    }
}
