package io.holdfast.redlock.internal.quorum;

import io.holdfast.spi.WatchSignal;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The watches of one claim at all masters, and the signal that they make together. Not thread-safe: its user guards it.
 *
 * <p>A majority holds a lock, and those of its masters that know of this claim's interest signal the release. An armed
 * majority shares a master with every majority that may hold the lock. So the claim is armed with the first majority of
 * masters. It then sends an attempt, which leaves its interest with them. If that attempt misses some of them, a
 * release may go unnoticed, and the next attempt by the clock finds it.
 */
public final class WatchQuorum {

    /** The signal for the claim. */
    public enum Verdict {
        NOTHING,
        ARMED,
        CHANGED,
        /** This master made the claim a holder without an attempt: to be released there. */
        UNWANTED,
        /** This master lost the claim; see how many masters have. */
        LOST_HERE,
        STOPPED
    }

    private final BitSet armed = new BitSet();
    private final BitSet stopped = new BitSet();
    private final boolean[] changed;
    private boolean isArmed;

    public WatchQuorum(int masters) {
        changed = new boolean[masters];
    }

    public Verdict signalled(int master, WatchSignal signal) {
        if (signal instanceof WatchSignal.Granted) {
            return Verdict.UNWANTED;
        }
        if (signal instanceof WatchSignal.Lost) {
            return Verdict.LOST_HERE;
        }
        return signal instanceof WatchSignal.Armed ? armed(master) : Verdict.CHANGED;
    }

    private Verdict armed(int master) {
        boolean again = armed.get(master);
        armed.set(master);
        if (armed.cardinality() < majority() || (isArmed && !again)) {
            return Verdict.NOTHING;
        }
        isArmed = true;
        return Verdict.ARMED;
    }

    /** Returns which masters have changed since the last signal for an attempt, with this one. */
    public boolean[] changed(int master) {
        changed[master] = true;
        return changed.clone();
    }

    public void attemptsAgain() {
        Arrays.fill(changed, false);
    }

    /** From now on, the claim is watched under another id at this master. */
    public void renewed(int master) {
        armed.clear(master);
        stopped.clear(master);
    }

    public Verdict stopped(int master) {
        armed.clear(master);
        stopped.set(master);
        if (armed.cardinality() < majority()) {
            isArmed = false; // from now on a release may be missed, so the next majority is worth another attempt
        }
        return changed.length - stopped.cardinality() < majority() ? Verdict.STOPPED : Verdict.NOTHING;
    }

    private int majority() {
        return VoteCount.majorityOf(changed.length);
    }
}
