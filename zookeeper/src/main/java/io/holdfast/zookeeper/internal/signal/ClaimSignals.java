package io.holdfast.zookeeper.internal.signal;

import io.holdfast.LossReason;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.RecentClaims;
import io.holdfast.spi.support.SignalSinks;
import java.util.concurrent.RejectedExecutionException;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/** Keeps the subscribers of each claim, and emits signals to them. Thread-safe. */
public final class ClaimSignals {

    private final SignalSinks sinks;

    /**
     * The losses of claims that had no subscriber at that moment: a lease may be lost between its grant and its watch. A claim that is
     * neither watched nor released is a mistake of the caller, so the number is bounded.
     */
    private final RecentClaims<LossReason> missed = new RecentClaims<>(1_000);

    public ClaimSignals(Scheduler deliverOn) {
        sinks = new SignalSinks(due -> {
            try {
                Disposable unused = deliverOn.schedule(due);
            } catch (RejectedExecutionException schedulerIsDisposed) {
                due.run();
            }
        });
    }

    /** Emits {@code Armed} at once: each attempt of a claim sets the watch that it needs, and an interruption is signalled. */
    public Flux<WatchSignal> of(String claimId) {
        return new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super WatchSignal> actual) {
                sinks.subscribe(claimId, actual, last -> {});
                tellWhatWasMissed(claimId);
            }
        };
    }

    public void changed(String claimId) {
        tell(claimId, new WatchSignal.Changed());
    }

    public void granted(String claimId, WatchSignal.Granted grant) {
        tell(claimId, grant);
    }

    public void changedAll() {
        sinks.watched().forEach(this::changed);
    }

    /** Emits the loss to the subscribers of the claim. If it has none now, its next subscriber gets the loss. */
    public void lost(String claimId, LossReason reason) {
        missed.add(claimId, reason);
        tellWhatWasMissed(claimId);
    }

    private void tellWhatWasMissed(String claimId) {
        if (isWatched(claimId)) {
            LossReason reason = missed.remove(claimId);
            if (reason != null) {
                tell(claimId, new WatchSignal.Lost(reason));
            }
        }
    }

    public boolean isWatched(String claimId) {
        return sinks.watched().contains(claimId);
    }

    /** The claim was released, or holds again: an earlier loss is not emitted any more. */
    public void forget(String claimId) {
        missed.remove(claimId);
    }

    public int count() {
        return sinks.watched().size();
    }

    /** Ends the signals of all subscribers, and of later ones. */
    public void fail(RuntimeException error) {
        sinks.fail(error);
    }

    private void tell(String claimId, WatchSignal signal) {
        sinks.signal(claimId, signal);
    }
}
