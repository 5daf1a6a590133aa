package io.holdfast.zookeeper.internal.queue;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides how many claims of this client may enter one queue now. Each creation makes the queue longer before its client sees the length.
 * So the creations under way may take only a small share of the free room. They must also be so few that the client's other requests do not
 * wait long for their answers.
 *
 * @param <T> a claim that wants to enter
 */
public final class AdmissionWindow<T> {

    /**
     * The share of the free room is one in so many. As many clients may fill a queue at the same moment, and none of them makes it longer
     * than its limit.
     */
    static final int SHARE = 32;

    /**
     * The most creations under way, even with much room. A server answers one session in order, so a renewal waits for all earlier requests
     * of its client, and each creation comes with a list. More creations at once would not fill the queue sooner.
     */
    static final int MOST_UNDER_WAY = 32;

    /** Created when a claim cannot enter at once, which is rare. */
    private @Nullable List<T> waiting;

    /** How many of those that wait, the first ones, had entered before but found no queue. */
    private int again;

    private int known;
    private int underWay;
    private boolean isAsking;
    private boolean isClosed;

    /** Whether a claim may enter now, without waiting. If so, its creation counts as under way from now on. */
    public boolean enters(int places) {
        boolean may = !isClosed && !isAwaited() && underWay < share(places);
        underWay += may ? 1 : 0;
        return may;
    }

    /** Adds a claim at the end of the line. */
    public void add(T claim) {
        add(waiting == null ? 0 : waiting.size(), claim);
    }

    /** The creation of this claim has found no queue. The claim waits for its second one, before all claims that have not entered yet. */
    public void addAgain(T claim) {
        underWay--;
        add(again++, claim);
    }

    private void add(int index, T claim) {
        List<T> all = waiting;
        if (all == null) {
            all = new ArrayList<>();
            waiting = all;
        }
        all.add(index, claim);
    }

    /**
     * No claim enters until {@link #open}: one that has entered creates the queue, and has to be its first.
     *
     * @return false if another claim does so already
     */
    public boolean close() {
        boolean wasOpen = !isClosed;
        isClosed = true;
        return wasOpen;
    }

    public void open() {
        isClosed = false;
    }

    /** Returns the next waiting claim if it may enter now; null otherwise. Its creation counts as under way from now on. */
    @Nullable
    public T next(int places) {
        List<T> all = waiting;
        if (isClosed || all == null || all.isEmpty() || underWay >= share(places)) {
            return null;
        }
        underWay++;
        again = Math.max(0, again - 1);
        return all.remove(0);
    }

    private boolean isAwaited() {
        return waiting != null && !waiting.isEmpty();
    }

    /** Whether claims wait, and no request is under way that will report the length. If so, the request counts as under way from now on. */
    public boolean hasToAsk() {
        boolean hasTo = isAwaited() && underWay == 0 && !isAsking && !isClosed;
        isAsking |= hasTo;
        return hasTo;
    }

    /** The request for the length was answered. */
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

    /** Removes and returns all waiting claims. */
    public List<T> turnAway() {
        List<T> all = waiting == null ? List.of() : waiting;
        waiting = null;
        again = 0;
        return all;
    }

    /** Whether no request is under way and the window knows nothing of use: the queue is not long. */
    public boolean isForgettable(int places) {
        return isIdle() && known < places / 2;
    }

    public boolean isIdle() {
        return !isAwaited() && underWay == 0 && !isAsking && !isClosed;
    }

    private int share(int places) {
        return isFull(places) ? 0 : Math.max(1, Math.min(MOST_UNDER_WAY, (places - known) / SHARE));
    }
}
