package io.holdfast.redlock.internal.master;

import io.holdfast.redlock.internal.quorum.VoteCount;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which masters do not answer. A master that hangs would be sent requests as fast as the others answer theirs, and all of them would be kept until
 * their time limits pass: hundreds of megabytes at the rate of an empty lock. So after {@link #TIMEOUTS} requests in a row whose time limit has passed, a
 * master is asked once in each {@link #PAUSE} only, until it answers. When more than a minority is silent, all are asked: it may
 * be this process that stood still. Thread-safe.
 */
public final class SilentMasters {

    static final int TIMEOUTS = 3;

    static final Duration PAUSE = Duration.ofMillis(100);

    /** Since the last answer. */
    private final AtomicIntegerArray timeouts;

    /** When a silent master was asked last, or fell silent. */
    private final AtomicLongArray askedAtNanos;

    SilentMasters(int masters) {
        timeouts = new AtomicIntegerArray(masters);
        askedAtNanos = new AtomicLongArray(masters);
    }

    /** It has answered. */
    void answered(int master) {
        if (timeouts.get(master) != 0) {
            timeouts.set(master, 0);
        }
    }

    /** The time limit of a request to it has passed. */
    void timedOut(int master, long nowNanos) {
        if (timeouts.get(master) < TIMEOUTS && timeouts.incrementAndGet(master) == TIMEOUTS) {
            askedAtNanos.set(master, nowNanos);
        }
    }

    /** Whether a request to it would be in vain. If not, it is asked now. */
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
