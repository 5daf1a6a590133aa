package io.holdfast.internal.claim;

import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** A lease that no client knows. */
class NoLease implements GuardedLease {

    @Override
    public Context enter(Context context) {
        return context;
    }

    @Override
    public boolean isValid() {
        return true;
    }

    @Override
    public LockLostException lost() {
        return new LockLostException("a", LossReason.NOT_HELD, 1);
    }

    @Override
    public void watchLoss(Holder holder) {}

    @Override
    public void tell(Runnable signal) {
        signal.run();
    }

    @Override
    public void stopWatchingLoss() {}

    @Override
    public void releaseUnused() {}

    @Override
    public Mono<Void> release() {
        return Mono.empty();
    }
}
