package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.internal.quorum.VoteCount;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Finds the masters that do not answer. Otherwise a master that hangs would get requests as fast as the others answer
 * theirs, and the client would keep all of them until their time limits pass: hundreds of megabytes at the rate of a
 * free lock. So after {@link #TIMEOUTS} requests in a row without an answer in time, a master gets only one request in
 * each {@link #PAUSE}, until it answers. If more than a minority is silent, all masters get requests: this process may
 * have stood still. Thread-safe.
 */
public final class SilentMasters {

    static final int TIMEOUTS = 3;

    static final Duration PAUSE = Duration.ofMillis(100);

    /** The time-outs of each master since its last answer. */
    private final AtomicIntegerArray timeouts;

    /** When a silent master got its last request, or fell silent. */
    private final AtomicLongArray askedAtNanos;

    /** The masters that have answered. Guarded by itself, until a majority has. */
    private final BitSet known = new BitSet();

    private volatile boolean isMajorityKnown;

    SilentMasters(int masters) {
        timeouts = new AtomicIntegerArray(masters);
        askedAtNanos = new AtomicLongArray(masters);
    }

    /** The master has answered. */
    void answered(int master) {
        if (timeouts.get(master) != 0) {
            timeouts.set(master, 0);
        }
        if (!isMajorityKnown) {
            synchronized (known) {
                known.set(master);
                isMajorityKnown = known.cardinality() >= VoteCount.majorityOf(timeouts.length());
            }
        }
    }

    /** Whether a majority of the masters has ever answered. */
    boolean isMajorityKnown() {
        return isMajorityKnown;
    }

    /** The time limit of a request to the master has passed. */
    void timedOut(int master, long nowNanos) {
        if (timeouts.get(master) < TIMEOUTS && timeouts.incrementAndGet(master) == TIMEOUTS) {
            askedAtNanos.set(master, nowNanos);
        }
    }

    /** Whether to send no request to the master. If false, the caller sends one now. */
    boolean passesOver(int master, long nowNanos) {
        if (!isSilent(master) || isMajoritySilent()) {
            return false;
        }
        long last = askedAtNanos.get(master);
        return nowNanos - last < PAUSE.toNanos() || !askedAtNanos.compareAndSet(master, last, nowNanos);
    }

    private boolean isMajoritySilent() {
        int heard = 0;
        for (int master = 0; master < timeouts.length(); master++) {
            heard += isSilent(master) ? 0 : 1;
        }
        return heard < VoteCount.majorityOf(timeouts.length());
    }

    private boolean isSilent(int master) {
        return timeouts.get(master) >= TIMEOUTS;
    }
}
