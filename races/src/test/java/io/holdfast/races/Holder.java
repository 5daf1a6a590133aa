package io.holdfast.races;

import io.holdfast.LockLease;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** A plain subscriber: it notes its signals, requests all, and cancels when the race calls for it. */
public final class Holder implements CoreSubscriber<LockLease> {

    private final AtomicInteger ends = new AtomicInteger();

    // Written by the thread that signals.
    private volatile @Nullable Subscription subscription;
    private volatile @Nullable LockLease lease;
    private volatile @Nullable Throwable error;

    @Override
    public void onSubscribe(Subscription s) {
        subscription = s;
        s.request(1);
    }

    @Override
    public void onNext(LockLease granted) {
        lease = granted;
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

    public LockLease lease() {
        LockLease granted = lease;
        if (granted == null) {
            throw new IllegalStateException("no lease came");
        }
        return granted;
    }

    /** Returns the signals in a word. More than one terminal signal is never right. */
    public String saw() {
        Throwable thrown = error;
        LockLease granted = lease;
        String what = thrown != null
                ? thrown.getClass().getSimpleName()
                : granted == null ? "nothing" : granted.isValid() ? "lease" : "lease that is over";
        if (thrown != null && granted != null) {
            what = "lease and " + what;
        }
        return ends.get() > 1 ? what + ", ended " + ends.get() + " times" : what;
    }
}
