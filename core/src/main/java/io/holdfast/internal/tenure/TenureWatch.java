package io.holdfast.internal.tenure;

import io.holdfast.spi.LockBackend;
import io.holdfast.spi.WatchSignal;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/** The signals of the claim at the back end. */
final class TenureWatch extends BaseSubscriber<WatchSignal> {

    private final TenureShard shard;
    private final Tenure tenure;

    private TenureWatch(TenureShard shard, Tenure tenure) {
        this.shard = shard;
        this.tenure = tenure;
    }

    /** Subscribes to the signals; the lock guards the tenure. */
    static void start(TenureShard shard, LockBackend store, Object lock, Tenure tenure) {
        TenureWatch watch = new TenureWatch(shard, tenure);
        boolean isWanted;
        synchronized (lock) {
            isWanted = tenure.watchedBy(watch::dispose);
        }
        if (isWanted) {
            Flux.defer(() -> store.watch(tenure.atStore)).subscribe(watch);
        }
        synchronized (lock) {
            tenure.isStarting = false;
        }
    }

    static void stop(Object lock, Tenure tenure) {
        Runnable watch;
        synchronized (lock) {
            watch = tenure.unwatch();
        }
        if (watch != null) {
            watch.run();
        }
    }

    @Override
    protected void hookOnNext(WatchSignal signal) {
        shard.signalled(tenure, signal);
    }

    @Override
    protected void hookOnError(Throwable stopped) {
        shard.signalled(tenure, null);
    }

    @Override
    protected void hookOnComplete() {
        shard.signalled(tenure, null);
    }
}
