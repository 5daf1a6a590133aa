package io.holdfast.redlock.internal.master;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Records which masters have answered at least once. The first answer of a master takes longer than later ones: the
 * client makes a connection, and loads the classes for it. So a master is new until it answers, but for no longer than
 * {@link #LONGEST} after its first request. After that, a master that was unreachable from the beginning counts as any
 * other slow one. Thread-safe.
 */
public final class FirstContacts {

    public static final Duration LONGEST = Duration.ofSeconds(5);

    /** 1 for a master that has answered. */
    private final AtomicIntegerArray known;

    /** 1 for a master that got a request; its time is below. */
    private final AtomicIntegerArray asked;

    private final AtomicLongArray askedAtNanos;

    FirstContacts(int masters) {
        known = new AtomicIntegerArray(masters);
        asked = new AtomicIntegerArray(masters);
        askedAtNanos = new AtomicLongArray(masters);
    }

    /** A request was sent. */
    void asked(int master, long nowNanos) {
        if (known.get(master) == 0 && asked.get(master) == 0) {
            askedAtNanos.set(master, nowNanos);
            asked.set(master, 1); // two threads at once write about the same time
        }
    }

    void answered(int master) {
        if (known.get(master) == 0) {
            known.set(master, 1);
        }
    }

    boolean isNew(int master, long nowNanos) {
        boolean isLongAgo = asked.get(master) == 1 && nowNanos - askedAtNanos.get(master) >= LONGEST.toNanos();
        return known.get(master) == 0 && !isLongAgo;
    }
}
