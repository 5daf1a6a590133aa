package io.holdfast.internal.guard;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** The operator behind {@code withLock}: the element waits for the release. */
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
        Result<T> result = new Result<>(subscriber);
        result.onSubscribe(new Guard<>(acquire, work, result));
    }

    /**
     * Keeps the element until the release. The end of the guard may race the element on another thread: one of them
     * takes the element.
     */
    private static final class Result<T> implements CoreSubscriber<T>, Subscription {

        // Markers in place of an element: not emitted yet, and taken or discarded.
        private static final Object NONE = new Object();
        private static final Object TAKEN = new Object();

        @SuppressWarnings("rawtypes")
        private static final AtomicReferenceFieldUpdater<Result, Object> ELEMENT =
                AtomicReferenceFieldUpdater.newUpdater(Result.class, Object.class, "element");

        private final CoreSubscriber<? super T> subscriber;

        /** Written by compare-and-set. */
        private volatile Object element = NONE;

        /** Written once, before the first request. */
        private @Nullable Subscription guard;

        Result(CoreSubscriber<? super T> subscriber) {
            this.subscriber = subscriber;
        }

        @Override
        public Context currentContext() {
            return subscriber.currentContext();
        }

        @Override
        public void onSubscribe(Subscription s) {
            guard = s;
            subscriber.onSubscribe(this);
        }

        @Override
        public void request(long n) {
            if (Operators.validate(n)) {
                guard().request(Long.MAX_VALUE);
            }
        }

        @Override
        public void cancel() {
            guard().cancel();
            discard(take());
        }

        @Override
        public void onNext(T next) {
            if (ELEMENT.compareAndSet(this, NONE, next)) {
                return;
            }
            if (element == TAKEN) {
                discard(next);
            } else { // the work is not a real Mono
                guard().cancel();
                discard(next);
                onError(new IndexOutOfBoundsException(
                        "the work under a lock is a Mono, but emitted more than one element"));
            }
        }

        @Override
        public void onError(Throwable error) {
            Object unwanted = take();
            if (unwanted == TAKEN) {
                Operators.onErrorDropped(error, subscriber.currentContext());
                return;
            }
            discard(unwanted);
            subscriber.onError(error);
        }

        @Override
        @SuppressWarnings("unchecked") // the value that onNext() has set
        public void onComplete() {
            Object result = take();
            if (result == TAKEN) {
                return; // the subscriber has cancelled
            }
            if (result != NONE) {
                subscriber.onNext((T) result);
            }
            subscriber.onComplete();
        }

        private Object take() {
            return ELEMENT.getAndSet(this, TAKEN);
        }

        private void discard(Object unwanted) {
            if (unwanted != NONE && unwanted != TAKEN) {
                Operators.onDiscard(unwanted, subscriber.currentContext());
            }
        }

        private Subscription guard() {
            return requireNonNull(guard);
        }
    }
}
