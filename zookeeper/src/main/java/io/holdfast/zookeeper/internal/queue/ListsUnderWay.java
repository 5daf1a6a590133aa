package io.holdfast.zookeeper.internal.queue;

import java.util.HashSet;
import java.util.Set;

/** Lists of one queue that were asked for and not answered yet, and what makes their answers out of date. */
final class ListsUnderWay {

    /** Lists may be under way at all times. A node that is taken for being there, and is gone, only delays a grant. */
    private static final int MOST_GONE = 1_000;

    /** Nodes that were heard to be gone meanwhile: a list may be older. */
    private final Set<String> gone = new HashSet<>();

    private int count;

    /** Rises when what was asked for before says nothing any more. */
    private int era;

    /** One more. */
    int asked() {
        count++;
        return era;
    }

    /** One less, whether the answer was used or not. */
    void answered() {
        count--;
        if (count == 0) {
            gone.clear();
        }
    }

    /**
     * Whether the answer still says something.
     *
     * @param asked what {@link #asked} gave
     */
    boolean isCurrent(int asked) {
        return asked == era;
    }

    /** Those that are under way say nothing any more. */
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
