package io.holdfast.redlock.internal.quorum;

import io.holdfast.spi.WatchSignal;
import java.util.Arrays;

/**
 * The watches of one claim at all masters, and what they say together. Not thread-safe: its user guards it.
 *
 * <p>A lock is held by a majority and its release is told by those masters that know of our interest. A majority that is armed shares a
 * master with every majority that may hold the lock. So the claim is armed with the first majority of masters, and asks
 * then, which leaves its interest with them. Should that attempt miss some of them, a release may go unnoticed, and the next attempt by the
 * clock finds it.
 */
public final class WatchQuorum {

    /** What to tell the claim. */
    public enum Verdict {
        NOTHING,
        ARMED,
        CHANGED,
        /** This master made the claim a holder that did not ask for it: to be released there. */
        UNWANTED,
        /** This master lost the claim; see how many have. */
        LOST_HERE,
        STOPPED
    }

    private final boolean[] armed;
    private final boolean[] stopped;
    private final boolean[] changed;
    private boolean told;

    public WatchQuorum(int masters) {
        armed = new boolean[masters];
        stopped = new boolean[masters];
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
        boolean again = armed[master];
        armed[master] = true;
        if (count(armed) < majority() || (told && !again)) {
            return Verdict.NOTHING;
        }
        told = true;
        return Verdict.ARMED;
    }

    /** Gives which masters have changed since the last attempt that was asked for, this one among them. */
    public boolean[] changed(int master) {
        changed[master] = true;
        return changed.clone();
    }

    public void attemptsAgain() {
        Arrays.fill(changed, false);
    }

    /** The claim is watched under another id at this master from now on. */
    public void renewed(int master) {
        armed[master] = false;
        stopped[master] = false;
    }

    public Verdict stopped(int master) {
        armed[master] = false;
        stopped[master] = true;
        if (count(armed) < majority()) {
            told = false; // from now on a release may be missed, so the next majority is worth another attempt
        }
        return armed.length - count(stopped) < majority() ? Verdict.STOPPED : Verdict.NOTHING;
    }

    private int majority() {
        return VoteCount.majorityOf(armed.length);
    }

    private static int count(boolean[] flags) {
        int count = 0;
        for (boolean is : flags) {
            count += is ? 1 : 0;
        }
        return count;
    }
}
