package io.holdfast.zookeeper.internal.queue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides how many claims of this client may enter one queue now. Each creation that is under way makes the queue longer before its client
 * sees how long it is. So only a small share of the room that is left may be under way at once, and never so many that what else the
 * client sends would wait long for its answer.
 *
 * @param <T> a claim that wants to enter
 */
public final class AdmissionWindow<T> {

    /** Of the room. As many clients may fill a queue at the same moment, and none of them makes it longer than its limit. */
    static final int SHARE = 32;

    /**
     * However much room there is. A server answers one session in order, so a renewal waits for all that its client sent before, and each
     * creation comes with a list. More than this would not fill the queue sooner.
     */
    static final int MOST_UNDER_WAY = 32;

    /** Made when a claim cannot enter at once, which is rare. */
    private @Nullable Deque<T> waiting;

    private int known;
    private int underWay;
    private boolean isAsking;

    /** Whether a claim may enter now, without waiting; if so, its creation is under way from now on. */
    public boolean enters(int places) {
        boolean may = !isAwaited() && underWay < share(places);
        underWay += may ? 1 : 0;
        return may;
    }

    /** Last in line. */
    public void add(T claim) {
        Deque<T> all = waiting;
        if (all == null) {
            all = new ArrayDeque<>();
            waiting = all;
        }
        all.addLast(claim);
    }

    /** The next of those that wait, if it may enter now; its creation is under way from now on. */
    @Nullable
    public T next(int places) {
        Deque<T> all = waiting;
        if (all == null || all.isEmpty() || underWay >= share(places)) {
            return null;
        }
        underWay++;
        return all.removeFirst();
    }

    private boolean isAwaited() {
        return waiting != null && !waiting.isEmpty();
    }

    /** Whether claims wait, and no answer is on its way that would tell more. If so, the question is on its way from now on. */
    public boolean hasToAsk() {
        boolean hasTo = isAwaited() && underWay == 0 && !isAsking;
        isAsking |= hasTo;
        return hasTo;
    }

    /** The question was answered. */
    public void asked() {
        isAsking = false;
    }

    /** A creation was answered. */
    public void answered() {
        underWay--;
    }

    /** The queue had so many places a moment ago. */
    public void learn(int size) {
        known = size;
    }

    public boolean isFull(int places) {
        return known >= places;
    }

    /** None waits any more. */
    public List<T> turnAway() {
        List<T> all = waiting == null ? List.of() : List.copyOf(waiting);
        waiting = null;
        return all;
    }

    /** Nothing is under way, and what is known is as good as nothing: the queue is not long. */
    public boolean isForgettable(int places) {
        return isIdle() && known < places / 2;
    }

    public boolean isIdle() {
        return !isAwaited() && underWay == 0 && !isAsking;
    }

    private int share(int places) {
        return isFull(places) ? 0 : Math.max(1, Math.min(MOST_UNDER_WAY, (places - known) / SHARE));
    }
}
