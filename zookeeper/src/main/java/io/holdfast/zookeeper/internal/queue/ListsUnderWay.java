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

    /** Rises when the answers to earlier requests become useless. */
    private int era;

    /** Counts a request. Returns the current era. */
    int asked() {
        count++;
        return era;
    }

    /** Counts an answer, whether it was used or not. */
    void answered() {
        count--;
        if (count == 0) {
            gone.clear();
        }
    }

    /**
     * Whether the answer is still of use.
     *
     * @param asked the result of {@link #asked}
     */
    boolean isCurrent(int asked) {
        return asked == era;
    }

    /** Makes the answers of all requests under way useless. */
    void invalidate() {
        era++;
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
