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

    public static <L, T> Mono<T> one(Mono<L> acquire, Function<? super L, ? extends Mono<T>> work) {
        return One.of(acquire, work);
    }

    public static <L, T> Flux<T> many(Mono<L> acquire, Function<? super L, ? extends Publisher<T>> work) {
        return Many.of(acquire, work);
    }

    private static final class One<L, T> extends Mono<T> {

        private final Mono<L> acquire;
        private final Function<? super L, ? extends Mono<T>> work;

        private One(Mono<L> acquire, Function<? super L, ? extends Mono<T>> work) {
            this.acquire = acquire;
            this.work = work;
        }

        static <L, T> Mono<T> of(Mono<L> acquire, Function<? super L, ? extends Mono<T>> work) {
            return onAssembly(new One<>(acquire, work));
        }

        @Override
        public void subscribe(CoreSubscriber<? super T> subscriber) {
            subscriber.onSubscribe(new Guard<>(acquire, work, subscriber, false));
        }
    }

    private static final class Many<L, T> extends Flux<T> {

        private final Mono<L> acquire;
        private final Function<? super L, ? extends Publisher<T>> work;

        private Many(Mono<L> acquire, Function<? super L, ? extends Publisher<T>> work) {
            this.acquire = acquire;
            this.work = work;
        }

        static <L, T> Flux<T> of(Mono<L> acquire, Function<? super L, ? extends Publisher<T>> work) {
            return onAssembly(new Many<>(acquire, work));
        }

        @Override
        public void subscribe(CoreSubscriber<? super T> subscriber) {
            // The loss arrives on another thread than the elements.
            CoreSubscriber<? super T> serialized = Operators.serialize(subscriber);
            serialized.onSubscribe(new Guard<>(acquire, work, serialized, true));
        }
    }
}
