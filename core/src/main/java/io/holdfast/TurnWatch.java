package io.holdfast;

import io.holdfast.internal.handover.Turn;
import io.holdfast.spi.WatchSignal;
import reactor.core.publisher.BaseSubscriber;

/** The signals of a turn's claim. */
final class TurnWatch extends BaseSubscriber<WatchSignal> {

    private final HandOverShard shard;
    private final Turn turn;

    TurnWatch(HandOverShard shard, Turn turn) {
        this.shard = shard;
        this.turn = turn;
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
