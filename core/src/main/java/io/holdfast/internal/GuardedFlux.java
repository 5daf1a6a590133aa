package io.holdfast.internal;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * The operator behind {@code withLock}: acquire, work, release, and only then how the work ended.
 *
 * <p>An operator of its own, since {@code usingWhen} lets a failing clean-up hide the error of the work, and since the lease must stay in
 * one pair of hands from the acquisition's emission to the release, whatever happens around.
 */
final class GuardedFlux<T> extends Flux<T> {

    private final Mono<LockLease> acquire;
    private final Function<? super LockLease, ? extends Publisher<T>> work;

    GuardedFlux(Mono<LockLease> acquire, Function<? super LockLease, ? extends Publisher<T>> work) {
        this.acquire = acquire;
        this.work = work;
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> subscriber) {
        // The loss comes on another thread than the elements.
        CoreSubscriber<? super T> serialized = Operators.serialize(subscriber);
        serialized.onSubscribe(new Guard<>(acquire, work, serialized));
    }

    /** Where a subscription stands; each step is taken by one thread only. */
    private enum Stage {
        IDLE,
        ACQUIRING,
        WORKING,
        RELEASING,
        ENDED
    }

    private static final class Guard<T> implements Subscription {

        private final Mono<LockLease> acquire;
        private final Function<? super LockLease, ? extends Publisher<T>> work;
        private final CoreSubscriber<? super T> subscriber;
        private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.IDLE);
        private final Operators.DeferredSubscription demand = new Operators.DeferredSubscription();
        private final Acquiring acquiring = new Acquiring();

        /** Written once, before the work is subscribed to. */
        private volatile @Nullable LockLease lease;

        private volatile @Nullable Disposable lossWatch;

        Guard(
                Mono<LockLease> acquire,
                Function<? super LockLease, ? extends Publisher<T>> work,
                CoreSubscriber<? super T> subscriber) {
            this.acquire = acquire;
            this.work = work;
            this.subscriber = subscriber;
        }

        @Override
        public void request(long n) {
            if (!Operators.validate(n)) {
                return;
            }
            demand.request(n);
            if (stage.compareAndSet(Stage.IDLE, Stage.ACQUIRING)) {
                acquire.subscribe(acquiring);
            }
        }

        @Override
        public void cancel() {
            Stage before = stage.getAndSet(Stage.ENDED);
            if (before == Stage.ACQUIRING) {
                acquiring.cancel();
            } else if (before == Stage.WORKING) {
                stopWork();
                releaseInBackground(held());
            }
        }

        private void begin(LockLease granted) {
            lease = granted;
            if (!stage.compareAndSet(Stage.ACQUIRING, Stage.WORKING)) {
                releaseInBackground(granted);
                return;
            }
            Context context = granted instanceof LeaseHandle outermost
                    ? HeldLocks.with(outermost, subscriber.currentContext())
                    : subscriber.currentContext();
            lossWatch = granted.onLoss().subscribe(this::lost);
            if (stage.get() != Stage.WORKING) {
                stopWatchingLoss();
                return;
            }
            try {
                Publisher<T> publisher = requireNonNull(work.apply(granted), "the work under a lock must not be null");
                publisher.subscribe(new Working(context));
            } catch (Throwable thrown) {
                Exceptions.throwIfJvmFatal(thrown);
                demand.cancel(); // a publisher may throw when it has begun
                workEnded(thrown);
            }
        }

        private void lost(LossReason reason) {
            if (stage.compareAndSet(Stage.WORKING, Stage.ENDED)) {
                demand.cancel();
                LockLease gone = held();
                subscriber.onError(new LockLostException(gone.lockName(), reason, gone.fencingToken()));
            }
        }

        private void workEnded(@Nullable Throwable error) {
            if (!stage.compareAndSet(Stage.WORKING, Stage.RELEASING)) {
                if (error != null) {
                    Operators.onErrorDropped(error, subscriber.currentContext());
                }
                return;
            }
            stopWatchingLoss();
            held().release().subscribe(new Releasing(error));
        }

        /** The result after the release, unless the subscriber left meanwhile. */
        private void end(@Nullable Throwable workError, @Nullable Throwable releaseError) {
            if (!stage.compareAndSet(Stage.RELEASING, Stage.ENDED)) {
                return;
            }
            if (workError != null) {
                subscriber.onError(
                        releaseError == null ? workError : Exceptions.addSuppressed(workError, releaseError));
            } else if (releaseError != null) {
                subscriber.onError(releaseError);
            } else {
                subscriber.onComplete();
            }
        }

        private void stopWork() {
            stopWatchingLoss();
            demand.cancel();
        }

        private void stopWatchingLoss() {
            Disposable watching = lossWatch;
            if (watching != null) {
                watching.dispose();
            }
        }

        private LockLease held() {
            return requireNonNull(lease);
        }

        /** Nobody is left to tell; the events report what goes wrong. */
        private static void releaseInBackground(LockLease lease) {
            Disposable unused = lease.release().subscribe(done -> {}, failure -> {});
        }

        private final class Acquiring extends BaseSubscriber<LockLease> {

            @Override
            public Context currentContext() {
                return subscriber.currentContext();
            }

            @Override
            protected void hookOnNext(LockLease granted) {
                begin(granted);
            }

            @Override
            protected void hookOnError(Throwable error) {
                if (stage.compareAndSet(Stage.ACQUIRING, Stage.ENDED)) {
                    subscriber.onError(error);
                }
            }
        }

        private final class Working implements CoreSubscriber<T> {

            private final Context context;

            Working(Context context) {
                this.context = context;
            }

            @Override
            public Context currentContext() {
                return context;
            }

            @Override
            public void onSubscribe(Subscription s) {
                demand.set(s);
            }

            @Override
            public void onNext(T element) {
                if (stage.get() == Stage.WORKING) {
                    subscriber.onNext(element);
                } else {
                    Operators.onNextDropped(element, context);
                }
            }

            @Override
            public void onError(Throwable error) {
                workEnded(error);
            }

            @Override
            public void onComplete() {
                workEnded(null);
            }
        }

        private final class Releasing extends BaseSubscriber<Void> {

            private final @Nullable Throwable workError;

            Releasing(@Nullable Throwable workError) {
                this.workError = workError;
            }

            @Override
            protected void hookOnComplete() {
                end(workError, null);
            }

            @Override
            protected void hookOnError(Throwable error) {
                end(workError, error);
            }
        }
    }
}
