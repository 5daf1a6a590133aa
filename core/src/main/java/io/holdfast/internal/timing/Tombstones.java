package io.holdfast.internal.timing;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** Claims withdrawn while an attempt may be under way: it must not queue when it arrives. Not thread-safe. */
public final class Tombstones {

    /** Longer than an attempt may be under way: an operation timeout is at most 2 s by default. */
    public static final long LASTS_NANOS = Duration.ofSeconds(5).toNanos();

    /** Maps a claim id to the end of its tombstone; in the order of those ends. */
    private final Map<String, Long> ends = new LinkedHashMap<>();

    public void add(String id, long now) {
        ends.remove(id);
        ends.put(id, now + LASTS_NANOS);
    }

    public boolean contains(String id) {
        return ends.containsKey(id);
    }

    public int size() {
        return ends.size();
    }

    public void sweep(long now) {
        Iterator<Long> each = ends.values().iterator();
        while (each.hasNext() && Validity.isOver(each.next(), now)) {
            each.remove();
        }
    }

    public void clear() {
        ends.clear();
    }
}
