package io.holdfast.races;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** Work whose result is already on its way when it is cancelled. */
public final class Emitter extends Mono<String> {

    private volatile @Nullable CoreSubscriber<? super String> subscriber;

    @Override
    public void subscribe(CoreSubscriber<? super String> actual) {
        subscriber = actual;
        actual.onSubscribe(Operators.emptySubscription());
    }

    public void emit() {
        CoreSubscriber<? super String> begun = requireNonNull(subscriber);
        begun.onNext("result");
        begun.onComplete();
    }
}
