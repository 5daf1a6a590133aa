package io.holdfast.internal.guard;

import static java.util.Objects.requireNonNull;

import io.holdfast.internal.claim.GuardedLease;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One subscription to {@code withLock}: it acquires, runs the work, releases, and only then signals how the work ended.
 * It is used for one lock and for several. The element of a Mono waits for the release, too.
 *
 * <p>It does not use {@code usingWhen}, which lets a failing clean-up hide the error of the work. Also, one object must
 * own the lease from the emission of the acquisition to the release, whatever happens around it. A loss is signalled on
 * another thread than the elements.
 *
 * @param <L> the lease as the user sees it; it is a {@link GuardedLease}
 * @param <T> the elements of the work
 */
final class Guard<L, T> implements CoreSubscriber<L>, Subscription, GuardedLease.Holder {

    private enum Stage {
        IDLE,
        ACQUIRING,
        /** Subscribing to the work: synchronous parts of the work run within that. */
        STARTING,
        /** The subscriber has cancelled meanwhile: the thread that starts the work releases the lease afterwards. */
        LEFT_WHILE_STARTING,
        WORKING,
        RELEASING,
        ENDED
    }

    private static final Subscription NOT_YET = Operators.emptySubscription();

    // Markers in place of the element of a Mono: there are many elements, which do not wait; not emitted yet; taken.
    private static final Object MANY = new Object();
    private static final Object NONE = new Object();
    private static final Object TAKEN = new Object();

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<Guard, Stage> STAGE =
            AtomicReferenceFieldUpdater.newUpdater(Guard.class, Stage.class, "stage");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<Guard, Subscription> RUNNING =
            AtomicReferenceFieldUpdater.newUpdater(Guard.class, Subscription.class, "running");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<Guard, Object> ELEMENT =
            AtomicReferenceFieldUpdater.newUpdater(Guard.class, Object.class, "element");

    private final Mono<L> acquire;
    private final Function<? super L, ? extends Publisher<? extends T>> work;
    private final CoreSubscriber<? super T> subscriber;
    private final Operators.DeferredSubscription demand = new Operators.DeferredSubscription();

    private volatile Stage stage = Stage.IDLE;

    /** The subscription of the acquisition, and then of the work, until it is cancelled; written by compare-and-set. */
    private volatile Subscription running = NOT_YET;

    /** Written by compare-and-set: the end of the guard may race the element on another thread. */
    private volatile Object element;

    private volatile @Nullable GuardedLease lease;

    private @Nullable Throwable workError;

    /** Written by the thread that starts the work, and read by it. */
    private boolean hasWorkBegun;

    /** {@code many}: elements are emitted while the work runs, and the subscriber has to be serialized. */
    Guard(
            Mono<L> acquire,
            Function<? super L, ? extends Publisher<? extends T>> work,
            CoreSubscriber<? super T> subscriber,
            boolean many) {
        this.acquire = acquire;
        this.work = work;
        this.subscriber = subscriber;
        element = many ? MANY : NONE;
    }

    @Override
    public void request(long n) {
        if (!Operators.validate(n)) {
            return;
        }
        demand.request(element == MANY ? n : Long.MAX_VALUE);
        if (STAGE.compareAndSet(this, Stage.IDLE, Stage.ACQUIRING)) {
            // Not as a CoreSubscriber: so Reactor's automatic context propagation sets thread-local variables before
            // the work begins.
            acquire.subscribe((Subscriber<L>) this);
        }
    }

    @Override
    public Context currentContext() {
        return subscriber.currentContext();
    }

    @Override
    public void onSubscribe(Subscription acquisition) {
        if (RUNNING.compareAndSet(this, NOT_YET, acquisition)) {
            acquisition.request(Long.MAX_VALUE);
        } else {
            acquisition.cancel();
        }
    }

    @Override
    public void cancel() {
        try {
            boolean isIdle = STAGE.compareAndSet(this, Stage.IDLE, Stage.ENDED);
            if (!isIdle && STAGE.compareAndSet(this, Stage.ACQUIRING, Stage.ENDED)) {
                cancelRunning();
            } else if (lease != null) {
                leave(lease);
            }
        } finally {
            discard(take());
        }
    }

    @Override
    public void onNext(L lockLease) {
        Subscription acquisition = running;
        if (acquisition != Operators.cancelledSubscription()) {
            RUNNING.compareAndSet(this, acquisition, NOT_YET); // from now on the lease is released instead
        }
        GuardedLease granted = (GuardedLease) lockLease; // the acquisition is one of the engine's own operators
        lease = granted;
        if (!STAGE.compareAndSet(this, Stage.ACQUIRING, Stage.STARTING)) {
            granted.releaseUnused();
            return;
        }
        try {
            start(lockLease, granted);
        } finally {
            if (!STAGE.compareAndSet(this, Stage.STARTING, Stage.WORKING)
                    && STAGE.compareAndSet(this, Stage.LEFT_WHILE_STARTING, Stage.ENDED)) {
                if (hasWorkBegun) {
                    granted.releaseInBackground();
                } else {
                    granted.releaseUnused();
                }
            }
        }
    }

    @Override
    public void onError(Throwable error) {
        if (STAGE.compareAndSet(this, Stage.ACQUIRING, Stage.ENDED)) {
            fail(error);
        }
    }

    @Override
    public void onComplete() {}

    private void start(L lockLease, GuardedLease granted) {
        Context context = granted.enter(subscriber.currentContext());
        granted.watchLoss(this);
        if (!isUnderWay()) {
            granted.stopWatchingLoss();
            return;
        }
        if (!granted.isValid()) {
            return; // a listener took too long; the signal of the loss is on its way, perhaps to another thread
        }
        hasWorkBegun = true;
        try {
            Publisher<? extends T> publisher =
                    requireNonNull(work.apply(lockLease), "the work under a lock must not be null");
            publisher.subscribe(new Working(context));
        } catch (Throwable thrown) {
            stopWork(thrown); // a publisher may throw after it has begun
            Exceptions.throwIfJvmFatal(thrown); // only now: otherwise the lock would be held, and renewed, for ever
        }
    }

    private boolean isUnderWay() {
        Stage now = stage;
        return now == Stage.STARTING || now == Stage.WORKING;
    }

    private boolean leaveWork(Stage next) {
        return STAGE.compareAndSet(this, Stage.WORKING, next)
                || STAGE.compareAndSet(this, Stage.STARTING, next)
                // The thread that starts the work may have moved on in between.
                || STAGE.compareAndSet(this, Stage.WORKING, next);
    }

    @Override
    public void lost() {
        if (leaveWork(Stage.ENDED)) {
            try {
                cancelRunning();
            } finally {
                fail(held().lost());
            }
        }
    }

    /** Also work whose cancellation throws ends: otherwise the lock would be held, and renewed, for ever. */
    private void stopWork(Throwable why) {
        try {
            held().tell(this::cancelRunning);
        } finally {
            workEnded(why);
        }
    }

    private void workEnded(@Nullable Throwable error) {
        if (!leaveWork(Stage.RELEASING)) {
            if (error != null) {
                Operators.onErrorDropped(error, subscriber.currentContext());
            }
            return;
        }
        workError = error;
        held().release(this);
    }

    @Override
    public void released(@Nullable Throwable releaseError) {
        if (!STAGE.compareAndSet(this, Stage.RELEASING, Stage.ENDED)) {
            return;
        }
        Throwable failure = workError;
        if (failure != null) {
            fail(releaseError == null ? failure : Exceptions.addSuppressed(failure, releaseError));
        } else if (releaseError != null) {
            fail(releaseError);
        } else {
            complete();
        }
    }

    @SuppressWarnings("unchecked") // the element that onNext() has set
    private void complete() {
        Object result = take();
        if (result == TAKEN) {
            return; // the subscriber has cancelled
        }
        if (isElement(result)) {
            subscriber.onNext((T) result);
        }
        subscriber.onComplete();
    }

    private void fail(Throwable error) {
        Object unwanted = take();
        if (unwanted == TAKEN) {
            Operators.onErrorDropped(error, subscriber.currentContext());
        } else {
            discard(unwanted);
            subscriber.onError(error);
        }
    }

    private Object take() {
        return element == MANY ? MANY : ELEMENT.getAndSet(this, TAKEN);
    }

    private static boolean isElement(Object taken) {
        return taken != MANY && taken != NONE && taken != TAKEN;
    }

    private void discard(Object unwanted) {
        if (isElement(unwanted)) {
            Operators.onDiscard(unwanted, subscriber.currentContext());
        }
    }

    /** A loss in between does not free the lock while the work is being cancelled. */
    private void leave(GuardedLease granted) {
        AtomicReference<Stage> before = new AtomicReference<>();
        try {
            granted.tell(() -> {
                before.set(STAGE.getAndUpdate(
                        this,
                        at -> at == Stage.STARTING || at == Stage.LEFT_WHILE_STARTING
                                ? Stage.LEFT_WHILE_STARTING
                                : Stage.ENDED));
                if (before.get() == Stage.STARTING || before.get() == Stage.WORKING) {
                    granted.stopWatchingLoss();
                    cancelRunning();
                }
            });
        } finally {
            if (before.get() == Stage.WORKING) {
                granted.releaseInBackground();
            }
        }
    }

    /** The demand passes on no cancellation within the first request, where all synchronous work runs. */
    private void cancelRunning() {
        RUNNING.getAndSet(this, Operators.cancelledSubscription()).cancel();
    }

    private GuardedLease held() {
        return requireNonNull(lease);
    }

    private final class Working implements CoreSubscriber<T>, Subscription {

        private final Context context;

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
            if (RUNNING.compareAndSet(Guard.this, NOT_YET, s)) {
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

        /** Does nothing: {@link #cancelRunning} cancels instead of the demand. */
        @Override
        public void cancel() {}

        @Override
        public void onNext(T next) {
            if (ended) {
                Operators.onNextDropped(next, context); // the work breaks the rules of Reactive Streams
            } else if (!isUnderWay()) {
                Operators.onDiscard(next, context); // the element raced the cancellation, or the loss
            } else if (element == MANY) {
                subscriber.onNext(next);
            } else if (!ELEMENT.compareAndSet(Guard.this, NONE, next)) {
                Operators.onDiscard(next, context);
                if (element != TAKEN) {
                    ended = true;
                    stopWork(new IndexOutOfBoundsException(
                            "the work under a lock is a Mono, but emitted more than one element"));
                }
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
}
