package io.holdfast.internal.timing;

import java.util.Arrays;

/**
 * The send times of the attempts that a pushed grant may still name: the last answered attempt and all later ones. A
 * push that matters never names an earlier one: a later, answered attempt found the grant already, or ended it.
 */
public final class SentAttempts {

    /** They accumulate while no answer comes. A grant that names a dropped one costs one more attempt. */
    private static final int MOST = 16;

    public static final SentAttempts NONE = new SentAttempts(1, new long[0]);

    private final int firstAttempt;
    private final long[] times;

    private SentAttempts(int firstAttempt, long[] times) {
        this.firstAttempt = firstAttempt;
        this.times = times;
    }

    /** Returns the number of the last attempt; 0 for none. */
    public int last() {
        return firstAttempt + times.length - 1;
    }

    public SentAttempts plus(long sentAtNanos) {
        int drop = times.length == MOST ? 1 : 0;
        long[] more = Arrays.copyOfRange(times, drop, times.length + 1);
        more[more.length - 1] = sentAtNanos;
        return new SentAttempts(firstAttempt + drop, more);
    }

    public SentAttempts answered(int attempt) {
        int drop = attempt - firstAttempt;
        return drop <= 0 ? this : new SentAttempts(attempt, Arrays.copyOfRange(times, drop, times.length));
    }

    public boolean knows(int attempt) {
        return attempt >= firstAttempt && attempt < firstAttempt + times.length;
    }

    public long sentAt(int attempt) {
        return times[attempt - firstAttempt];
    }
}
