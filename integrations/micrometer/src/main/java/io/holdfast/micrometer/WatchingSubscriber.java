package io.holdfast.micrometer;

import io.holdfast.LockLease;
import io.holdfast.MultiLease;
import io.holdfast.micrometer.LockObservationContext.Operation;
import io.holdfast.micrometer.LockObservationContext.Outcome;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.util.context.Context;

/**
 * Emits every signal, and ends the observation before it emits the signal that ends it. It is an operator of its own instead of {@code
 * tap}: the engine must see which subscriber drops a lease, as if there were no operator between, and this class must not keep a reference
 * to a lease.
 */
final class WatchingSubscriber<T> implements CoreSubscriber<T>, Subscription, Scannable {

    private final CoreSubscriber<? super T> actual;
    private final Watched watched;
    private final boolean endsWithLease;
    private final Context context;

    /** Written once, by {@code onSubscribe}. */
    private @Nullable Subscription upstream;

    WatchingSubscriber(CoreSubscriber<? super T> actual, Watched watched) {
        this.actual = actual;
        this.watched = watched;
        endsWithLease = watched.context().operation() != Operation.WITH_LOCK;
        context = actual.currentContext().put(Observing.KEY, watched.observation());
    }

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    public void onSubscribe(Subscription s) {
        upstream = s;
        actual.onSubscribe(this);
    }

    @Override
    public void request(long n) {
        watched.start();
        if (upstream != null) {
            upstream.request(n);
        }
    }

    @Override
    public void cancel() {
        if (upstream != null) {
            upstream.cancel(); // first: the work ends before the observation that encloses it
        }
        watched.end(isWorking() ? Outcome.WORK_CANCELLED : Outcome.CANCELLED, null);
    }

    @Override
    public void onNext(T element) {
        if (endsWithLease && element instanceof LockLease lease) {
            acquired(lease);
        } else if (endsWithLease && element instanceof MultiLease many) {
            acquired(many.leases().get(0));
        }
        actual.onNext(element);
    }

    private boolean isWorking() {
        return !endsWithLease && watched.context().fencingToken().isPresent();
    }

    private void acquired(LockLease lease) {
        watched.context().acquired(lease.fencingToken());
        watched.end(Outcome.ACQUIRED, null);
    }

    @Override
    public void onError(Throwable error) {
        watched.start(); // a refusal comes before the first request
        watched.end(Observing.outcome(error, watched.context()), error);
        actual.onError(error);
    }

    @Override
    public void onComplete() {
        watched.end(endsWithLease ? Outcome.NOT_AVAILABLE : Outcome.COMPLETED, null);
        actual.onComplete();
    }

    @Override
    @SuppressWarnings("rawtypes") // as Scannable declares it
    public @Nullable Object scanUnsafe(Attr key) {
        if (key == Attr.ACTUAL) {
            return actual;
        }
        if (key == Attr.PARENT) {
            return upstream;
        }
        return key == Attr.RUN_STYLE ? Attr.RunStyle.SYNC : null;
    }
}
