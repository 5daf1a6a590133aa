package io.holdfast.internal.client;

import io.holdfast.Backoff;
import io.holdfast.LockBackendException;
import io.holdfast.LockLostException;
import io.holdfast.internal.timing.StoreDurations;
import org.jspecify.annotations.Nullable;

/**
 * Decides about a candidate of an election when one candidacy has ended with an error: stand again, or end. Immutable.
 *
 * @param leaseNanos a term that lasts longer resets the pauses
 * @param inARow how many candidacies ended with a loss or with a failure of the back end since then
 */
public record CandidateState(Backoff backoff, long leaseNanos, int inARow, boolean isBackEndUnreachable) {

    /** How a candidacy went: without an election, the token is 0, and the time is that for which it stood. */
    public record Candidacy(long tokenOfTerm, long lastedNanos, boolean hasCompleted) {}

    /** {@code backEndFailed}: for the first time in a row. */
    public record StandAgain(CandidateState next, long pauseNanos, boolean backEndFailed) {}

    public static CandidateState of(Backoff backoff, long leaseNanos) {
        return new CandidateState(backoff, leaseNanos, 0, false);
    }

    /** Returns null to end with the error. */
    public @Nullable StandAgain ended(String lockName, Candidacy candidacy, Throwable error, double random) {
        if (candidacy.tokenOfTerm() == 0) {
            boolean mayPass = error instanceof LockBackendException failure && failure.isTransient();
            CandidateState before = hasAnsweredMeanwhile(candidacy) ? of(backoff, leaseNanos) : this;
            return mayPass ? before.standAgain(before.inARow, random, true) : null;
        }
        return isLoss(lockName, candidacy, error)
                ? standAgain(candidacy.lastedNanos() > leaseNanos ? 0 : inARow, random, false)
                : null;
    }

    /** An acquisition gives up after one lease of failures and a pause. A longer candidacy got answers before. */
    private boolean hasAnsweredMeanwhile(Candidacy candidacy) {
        long longestPause = backoff.pause(Integer.MAX_VALUE, 0).toNanos();
        return candidacy.lastedNanos() > 2 * leaseNanos + longestPause;
    }

    /** A term may be the first to detect its own loss; a completed term does not lead any more. */
    private static boolean isLoss(String lockName, Candidacy candidacy, Throwable error) {
        return !candidacy.hasCompleted()
                && error instanceof LockLostException lost
                && lost.lockName().equals(lockName)
                && lost.fencingToken() == candidacy.tokenOfTerm();
    }

    private StandAgain standAgain(int before, double random, boolean backEndFails) {
        int count = before == Integer.MAX_VALUE ? before : before + 1;
        long pause = Math.max(
                StoreDurations.LEAST_PAUSE_NANOS, backoff.pause(count, random).toNanos());
        CandidateState next = new CandidateState(backoff, leaseNanos, count, backEndFails);
        return new StandAgain(next, pause, backEndFails && !isBackEndUnreachable);
    }
}
