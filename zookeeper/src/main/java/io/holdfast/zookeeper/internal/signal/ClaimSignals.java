package io.holdfast.zookeeper.internal.signal;

import io.holdfast.LossReason;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.RecentClaims;
import io.holdfast.spi.support.SignalSink;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/** Keeps the subscribers of each claim, and emits signals to them. Thread-safe. */
public final class ClaimSignals {

    private final Map<String, List<SignalSink>> byClaim = new ConcurrentHashMap<>();

    /**
     * The losses of claims that had no subscriber at that moment: a lease may be lost between its grant and its watch. A claim that is
     * neither watched nor released is a mistake of the caller, so the number is bounded.
     */
    private final RecentClaims<LossReason> missed = new RecentClaims<>(1_000);

    private final Scheduler deliverOn;

    /** Written once, before the present subscribers are notified. */
    private volatile @Nullable RuntimeException end;

    public ClaimSignals(Scheduler deliverOn) {
        this.deliverOn = deliverOn;
    }

    /** Emits {@code Armed} at once: each attempt of a claim sets the watch that it needs, and an interruption is signalled. */
    public Flux<WatchSignal> of(String claimId) {
        return new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super WatchSignal> actual) {
                SignalSink added = new SignalSink(claimId, actual, ClaimSignals.this::remove);
                added.accept(new WatchSignal.Armed());
                add(added);
                added.handOver();
                tellWhatWasMissed(claimId);
                RuntimeException ended = end;
                if (ended != null) { // it may have been added after fail() went over the others
                    remove(added);
                    added.fail(ended);
                }
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
        byClaim.keySet().forEach(this::changed);
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
        return byClaim.containsKey(claimId);
    }

    /** The claim was released, or holds again: an earlier loss is not emitted any more. */
    public void forget(String claimId) {
        missed.remove(claimId);
    }

    public int count() {
        return byClaim.values().stream().mapToInt(List::size).sum();
    }

    /** Ends the signals of all subscribers, and of later ones. */
    public void fail(RuntimeException error) {
        end = error;
        List<SignalSink> all = byClaim.values().stream().flatMap(List::stream).toList();
        all.forEach(this::remove); // a sink that has failed says nothing when it is cancelled
        all.forEach(it -> it.fail(error));
    }

    /** Usually a claim has one subscriber. */
    private void add(SignalSink added) {
        byClaim.merge(
                added.claimId(),
                List.of(added),
                (before, one) -> Stream.concat(before.stream(), one.stream()).toList());
    }

    private void remove(SignalSink gone) {
        byClaim.computeIfPresent(gone.claimId(), (id, before) -> {
            if (before.size() == 1) {
                return before.get(0) == gone ? null : before;
            }
            return before.stream().filter(it -> it != gone).toList();
        });
    }

    private void tell(String claimId, WatchSignal signal) {
        for (SignalSink it : byClaim.getOrDefault(claimId, List.of())) {
            it.accept(signal);
            if (it.isDue()) {
                emit(it);
            }
        }
    }

    private void emit(SignalSink due) {
        try {
            Disposable unused = deliverOn.schedule(due);
        } catch (RejectedExecutionException schedulerIsDisposed) {
            due.run();
        }
    }
}
