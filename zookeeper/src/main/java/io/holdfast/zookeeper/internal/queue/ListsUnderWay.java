package io.holdfast.zookeeper.internal.queue;

import java.util.HashSet;
import java.util.Set;

/** The requests for a list of one queue that are not answered yet, and the events that make their answers outdated. */
final class ListsUnderWay {

    /**
     * The limit is needed because there may always be a list under way. If a deleted node is taken for an existing one, that only delays a
     * grant.
     */
    private static final int MOST_GONE = 1_000;

    /** Nodes whose deletion was reported meanwhile: a list may be older. */
    private final Set<String> gone = new HashSet<>();

    private int count;

    /** The number of the next request. */
    private int next;

    /** The answers to requests with a lower number are useless. */
    private int firstUseful;

    /** Counts a request. Returns its number. */
    int asked() {
        count++;
        return next++;
    }

    /** Counts an answer, whether it was used or not. */
    void answered() {
        count--;
        if (count == 0) {
            gone.clear();
        }
    }

    /**
     * Uses an answer, unless it is older than what is known.
     *
     * @param asked the result of {@link #asked}
     * @return false if the answer is useless
     */
    boolean use(int asked) {
        boolean isUseful = asked >= firstUseful;
        firstUseful = isUseful ? asked + 1 : firstUseful;
        return isUseful;
    }

    /** Makes the answers of all requests under way useless. */
    void invalidate() {
        firstUseful = next;
    }

    void gone(String name) {
        if (count > 0) {
            if (gone.size() >= MOST_GONE) {
                gone.clear();
            }
            gone.add(name);
        }
    }

    boolean isGone(String name) {
        return gone.contains(name);
    }

    boolean areUnderWay() {
        return count > 0;
    }

    int remembered() {
        return gone.size();
    }
}
