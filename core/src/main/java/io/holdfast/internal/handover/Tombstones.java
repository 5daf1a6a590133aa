package io.holdfast.internal.handover;

import io.holdfast.internal.run.Validity;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The claims that were withdrawn while an attempt of theirs may still be under way. Such an attempt must not queue when
 * it arrives.
 */
final class Tombstones {

    /** As long as a back end remembers a withdrawn claim. */
    private static final long LASTS_NANOS = Duration.ofSeconds(5).toNanos();

    /** Maps a claim id to the end of its tombstone; in the order of those ends. */
    private final Map<String, Long> ends = new LinkedHashMap<>();

    void add(String id, long now) {
        ends.remove(id);
        ends.put(id, now + LASTS_NANOS);
    }

    boolean contains(String id) {
        return ends.containsKey(id);
    }

    void sweep(long now) {
        Iterator<Long> each = ends.values().iterator();
        while (each.hasNext() && Validity.isOver(each.next(), now)) {
            each.remove();
        }
    }
}
