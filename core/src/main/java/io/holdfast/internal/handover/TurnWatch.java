package io.holdfast.internal.handover;

import io.holdfast.spi.LockBackend;
import io.holdfast.spi.WatchSignal;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/** The signals of a turn's claim. */
final class TurnWatch extends BaseSubscriber<WatchSignal> {

    private final HandOverShard shard;
    private final Turn turn;

    private TurnWatch(HandOverShard shard, Turn turn) {
        this.shard = shard;
        this.turn = turn;
    }

    /** Subscribes to the signals; the lock guards the turn. */
    static void start(HandOverShard shard, LockBackend store, Object lock, Turn turn) {
        TurnWatch watch = new TurnWatch(shard, turn);
        boolean isWanted;
        synchronized (lock) {
            isWanted = turn.watchedBy(watch::dispose);
        }
        if (isWanted) {
            Flux.defer(() -> store.watch(turn.watched())).subscribe(watch);
        }
        synchronized (lock) {
            turn.watching();
        }
    }

    static void stop(Object lock, Turn turn) {
        Runnable watch;
        synchronized (lock) {
            watch = turn.unwatch();
        }
        if (watch != null) {
            watch.run();
        }
    }

    @Override
    protected void hookOnNext(WatchSignal signal) {
        shard.signalled(turn, signal);
    }

    @Override
    protected void hookOnError(Throwable stopped) {
        shard.signalled(turn, null);
    }

    @Override
    protected void hookOnComplete() {
        shard.signalled(turn, null);
    }
}
