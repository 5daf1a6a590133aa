package io.holdfast.internal;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockLease;
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
        /** The work is being subscribed to: what of it is synchronous runs within that. */
        STARTING,
        /** The subscriber left meanwhile: the thread that starts the work releases the lease afterwards. */
        LEFT_WHILE_STARTING,
        WORKING,
        RELEASING,
        ENDED
    }

    private static final class Guard<T> implements Subscription {

        private static final Subscription NOT_YET = Operators.emptySubscription();

        private final Mono<LockLease> acquire;
        private final Function<? super LockLease, ? extends Publisher<T>> work;
        private final CoreSubscriber<? super T> subscriber;
        private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.IDLE);
        private final Operators.DeferredSubscription demand = new Operators.DeferredSubscription();
        private final Acquiring acquiring = new Acquiring();

        /** The work's own, once it has begun and until it is cancelled. */
        private final AtomicReference<Subscription> running = new AtomicReference<>(NOT_YET);

        /** Written once, before the work is subscribed to. */
        private volatile @Nullable EngineLease lease;

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
            Stage before = stage.getAndUpdate(at ->
                    at == Stage.STARTING || at == Stage.LEFT_WHILE_STARTING ? Stage.LEFT_WHILE_STARTING : Stage.ENDED);
            switch (before) {
                case ACQUIRING -> acquiring.cancel();
                case STARTING -> stopWork();
                case WORKING -> {
                    stopWork();
                    releaseInBackground(held());
                }
                default -> {}
            }
        }

        private void begin(EngineLease granted) {
            lease = granted;
            if (!stage.compareAndSet(Stage.ACQUIRING, Stage.STARTING)) {
                releaseInBackground(granted);
                return;
            }
            try {
                start(granted);
            } finally {
                if (!stage.compareAndSet(Stage.STARTING, Stage.WORKING)
                        && stage.compareAndSet(Stage.LEFT_WHILE_STARTING, Stage.ENDED)) {
                    releaseInBackground(granted);
                }
            }
        }

        private void start(EngineLease granted) {
            Context context = granted instanceof LeaseHandle outermost
                    ? HeldLocks.with(outermost, subscriber.currentContext())
                    : subscriber.currentContext();
            lossWatch = granted.onLoss().subscribe(reason -> lost(granted));
            if (!isUnderWay()) {
                stopWatchingLoss();
                return;
            }
            try {
                Publisher<T> publisher = requireNonNull(work.apply(granted), "the work under a lock must not be null");
                publisher.subscribe(new Working(context));
            } catch (Throwable thrown) {
                cancelWork(); // a publisher may throw when it has begun
                workEnded(thrown);
                Exceptions.throwIfJvmFatal(thrown); // not before: the lock would be held, and renewed, for ever
            }
        }

        private boolean isUnderWay() {
            Stage now = stage.get();
            return now == Stage.STARTING || now == Stage.WORKING;
        }

        /** From the work to what follows it, once. */
        private boolean leaveWork(Stage next) {
            return stage.compareAndSet(Stage.WORKING, next)
                    || stage.compareAndSet(Stage.STARTING, next)
                    // The thread that starts it may have gone on in between.
                    || stage.compareAndSet(Stage.WORKING, next);
        }

        private void lost(EngineLease gone) {
            if (leaveWork(Stage.ENDED)) {
                cancelWork();
                subscriber.onError(gone.lost());
            }
        }

        private void workEnded(@Nullable Throwable error) {
            if (!leaveWork(Stage.RELEASING)) {
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
            cancelWork();
        }

        /**
         * Not through the demand: it passes no cancellation on as long as it passes on the first request, and all of what is synchronous
         * runs within that.
         */
        private void cancelWork() {
            running.getAndSet(Operators.cancelledSubscription()).cancel();
        }

        private void stopWatchingLoss() {
            Disposable watching = lossWatch;
            if (watching != null) {
                watching.dispose();
            }
        }

        private EngineLease held() {
            return requireNonNull(lease);
        }

        /** No subscriber is left. The events report what goes wrong. */
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
                begin((EngineLease) granted); // the engine's own operator gives it
            }

            @Override
            protected void hookOnError(Throwable error) {
                if (stage.compareAndSet(Stage.ACQUIRING, Stage.ENDED)) {
                    subscriber.onError(error);
                }
            }
        }

        private final class Working implements CoreSubscriber<T>, Subscription {

            private final Context context;

            /** Written once, by {@code onSubscribe}. */
            private Subscription upstream = NOT_YET;

            /** Whether the work has ended by itself; written by the thread of the work. */
            private boolean ended;

            Working(Context context) {
                this.context = context;
            }

            @Override
            public Context currentContext() {
                return context;
            }

            @Override
            public void onSubscribe(Subscription s) {
                if (running.compareAndSet(NOT_YET, s)) {
                    upstream = s;
                    boolean unused = demand.set(this);
                } else {
                    s.cancel();
                }
            }

            @Override
            public void request(long n) {
                upstream.request(n);
            }

            /** The demand is never cancelled: {@link #cancelWork} does that. */
            @Override
            public void cancel() {}

            @Override
            public void onNext(T element) {
                if (isUnderWay()) {
                    subscriber.onNext(element);
                } else if (ended) {
                    Operators.onNextDropped(element, context); // against the rules
                } else {
                    Operators.onDiscard(element, context); // it raced the cancellation, or the loss
                }
            }

            @Override
            public void onError(Throwable error) {
                ended = true;
                workEnded(error);
            }

            @Override
            public void onComplete() {
                ended = true;
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
