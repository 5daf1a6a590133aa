package io.holdfast.redis.internal.pubsub;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Paces claims that are to send an attempt although nothing is known of their locks, such as all waiters when a channel
 * is up again. They send their attempts in the order of adding, a bounded number at a time: the next one when one was
 * answered. So with slower answers the server gets fewer attempts, and ten thousand waiters never send theirs at once.
 */
final class PacedWakeUps<S> {

    /** Keeps a connection busy for a round trip. */
    static final int MOST_AT_ONCE = 128;

    /**
     * An attempt without an answer after this time, or twice this time, is not awaited any more: it may have failed, or
     * take long.
     */
    private static final Duration LIMIT = Duration.ofSeconds(1);

    private final BiConsumer<Duration, Runnable> later;
    private final BiPredicate<String, S> waker;

    /** Guarded by this, as the others: the signal for each claim. */
    private final Map<String, S> due = new LinkedHashMap<>();

    /** The claims that were signalled and whose attempts are not answered yet, with the round of the limit. */
    private final Map<String, Integer> underWay = new LinkedHashMap<>();

    private int round;

    /** Whether a task for the limit is planned. */
    private boolean isLimited;

    /** Whether anything is due or under way: a caller that finds false has nothing to do. Written under the lock. */
    private volatile boolean isBusy;

    /**
     * Begins without claims.
     *
     * @param later runs a task after a pause
     * @param waker signals a claim, without a lock; false if the claim will send no attempt
     */
    PacedWakeUps(BiConsumer<Duration, Runnable> later, BiPredicate<String, S> waker) {
        this.later = later;
        this.waker = waker;
    }

    /** Adds claims. A claim that is due already keeps its turn, and gets the later signal. */
    void add(Collection<String> claimIds, S signal) {
        synchronized (this) {
            claimIds.forEach(id -> due.put(id, signal));
            isBusy = !due.isEmpty();
        }
        signalNext();
    }

    /** An attempt of this claim was answered, or the claim sends no more attempts. */
    void answered(String claimId) {
        if (!isBusy) {
            return;
        }
        synchronized (this) {
            if (underWay.remove(claimId) == null) {
                return;
            }
        }
        signalNext();
    }

    void remove(String claimId) {
        if (!isBusy) {
            return;
        }
        synchronized (this) {
            due.remove(claimId);
        }
        answered(claimId);
    }

    private void signalNext() {
        while (true) {
            Map.Entry<String, S> next = next();
            if (next == null) {
                return;
            }
            if (!waker.test(next.getKey(), next.getValue())) {
                synchronized (this) {
                    underWay.remove(next.getKey());
                }
            }
        }
    }

    private synchronized Map.@Nullable Entry<String, S> next() {
        if (due.isEmpty() || underWay.size() >= MOST_AT_ONCE) {
            isBusy = !due.isEmpty() || !underWay.isEmpty();
            if (isBusy && !isLimited) {
                isLimited = true;
                later.accept(LIMIT, this::atLimit);
            }
            return null;
        }
        Map.Entry<String, S> first = due.entrySet().iterator().next();
        due.remove(first.getKey());
        underWay.put(first.getKey(), round);
        return first;
    }

    private void atLimit() {
        synchronized (this) {
            isLimited = false;
            underWay.values().removeIf(told -> told < round);
            round++;
        }
        signalNext();
    }
}
