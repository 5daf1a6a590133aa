package io.holdfast.races;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** Notes how a publisher ends: with a value, empty, or with an error. */
public final class Told<T> implements CoreSubscriber<T> {

    private final AtomicInteger ends = new AtomicInteger();

    // Written by the thread that signals.
    private volatile @Nullable Subscription subscription;
    private volatile @Nullable T value;
    private volatile @Nullable Throwable error;

    @Override
    public void onSubscribe(Subscription s) {
        subscription = s;
        s.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(T next) {
        value = next;
    }

    @Override
    public void onError(Throwable thrown) {
        error = thrown;
        ends.incrementAndGet();
    }

    @Override
    public void onComplete() {
        ends.incrementAndGet();
    }

    public void cancel() {
        Subscription s = subscription;
        if (s != null) {
            s.cancel();
        }
    }

    /** Returns the value, the simple name of the error, "done", or "nothing". More than one end is never right. */
    @Override
    public String toString() {
        Throwable thrown = error;
        T last = value;
        String what = thrown != null
                ? thrown.getClass().getSimpleName()
                : last != null ? last.toString() : ends.get() == 0 ? "nothing" : "done";
        return ends.get() > 1 ? what + ", ended " + ends.get() + " times" : what;
    }
}
