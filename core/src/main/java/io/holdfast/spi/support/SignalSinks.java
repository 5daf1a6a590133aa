package io.holdfast.spi.support;

import io.holdfast.spi.WatchSignal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/**
 * The subscribers to the signals of all claims of one back end, each with its {@link SignalSink}. Usually a claim has one.
 * Thread-safe.
 */
public final class SignalSinks {

    private final Map<String, List<SignalSink>> byClaim = new ConcurrentHashMap<>();
    private final Executor deliverOn;

    /** Written once, before the present subscribers fail. */
    private volatile @Nullable Throwable end;

    /**
     * Begins without a subscriber.
     *
     * @param deliverOn runs what emits a signal; {@code Runnable::run} if the thread that brings a signal may emit it
     */
    public SignalSinks(Executor deliverOn) {
        this.deliverOn = deliverOn;
    }

    /**
     * Adds a subscriber. It gets {@code Armed} at once, on this thread, and then each signal of the claim.
     *
     * @param claimId the id of the watched claim
     * @param subscriber fails at once after {@link #fail}
     * @param onLastCancel gets the id when no subscriber of this claim is left
     */
    public void subscribe(
            String claimId, CoreSubscriber<? super WatchSignal> subscriber, Consumer<String> onLastCancel) {
        SignalSink added = new SignalSink(claimId, subscriber, it -> {
            if (remove(it)) {
                onLastCancel.accept(claimId);
            }
        });
        added.accept(new WatchSignal.Armed());
        byClaim.merge(
                claimId,
                List.of(added),
                (all, one) -> Stream.concat(all.stream(), one.stream()).toList());
        added.handOver();
        Throwable ended = end;
        if (ended != null) { // it may have been added after the others failed
            fail(added, ended);
        }
    }

    private boolean remove(SignalSink gone) {
        return byClaim.computeIfPresent(gone.claimId(), (id, all) -> {
                    if (all.size() == 1) {
                        return all.get(0) == gone ? null : all;
                    }
                    return all.stream().filter(it -> it != gone).toList();
                })
                == null;
    }

    /**
     * Signals all subscribers of one claim.
     *
     * @param claimId the id of the claim
     * @param signal what they get
     */
    public void signal(String claimId, WatchSignal signal) {
        for (SignalSink it : byClaim.getOrDefault(claimId, List.of())) {
            it.accept(signal);
            if (it.isDue()) {
                deliverOn.execute(it);
            }
        }
    }

    /** {@return the ids of the claims that have a subscriber: a view, which changes} */
    public Set<String> watched() {
        return byClaim.keySet();
    }

    /**
     * Ends the signals of all subscribers, and of later ones.
     *
     * @param error the reason
     */
    public void fail(Throwable error) {
        end = error;
        byClaim.values().forEach(all -> all.forEach(it -> fail(it, error)));
    }

    private void fail(SignalSink sink, Throwable error) {
        boolean unused = remove(sink); // it says nothing when it is cancelled after that
        sink.fail(error);
    }
}
