package io.holdfast.internal.client;

import io.holdfast.Backoff;
import io.holdfast.LockBackendException;
import io.holdfast.LockLostException;
import io.holdfast.internal.run.StoreDurations;

/**
 * Decides about a candidate of an election when one candidacy has ended with an error: stand again, or end. Immutable.
 *
 * @param backoff the pauses before the candidate stands again
 * @param leaseNanos a term that lasts longer resets the pauses
 * @param inARow how many candidacies ended with a loss or with a failure of the back end since then
 * @param isBackEndUnreachable whether the last one ended with a failure of the back end
 */
public record CandidateState(Backoff backoff, long leaseNanos, int inARow, boolean isBackEndUnreachable) {

    /**
     * The course of a candidacy.
     *
     * @param tokenOfTerm the token with which it was elected; 0 when it was not
     * @param lastedNanos the time since the election; without one, for how long the candidate stood
     * @param hasCompleted whether the term completed by itself
     */
    public record Candidacy(long tokenOfTerm, long lastedNanos, boolean hasCompleted) {}

    /** The decision. */
    public sealed interface Step {

        /** The election ends: the subscriber gets the error. */
        record End() implements Step {}

        /**
         * The candidate stands again.
         *
         * @param next the state from then on
         * @param pauseNanos the pause before that
         * @param backEndFailed whether the back end failed, for the first time in a row
         */
        record StandAgain(CandidateState next, long pauseNanos, boolean backEndFailed) implements Step {}
    }

    /**
     * Makes a candidate.
     *
     * @param backoff the pauses before the candidate stands again
     * @param leaseNanos a term that lasts longer resets the pauses
     * @return a state without failures
     */
    public static CandidateState of(Backoff backoff, long leaseNanos) {
        return new CandidateState(backoff, leaseNanos, 0, false);
    }

    /**
     * Handles a candidacy that ended with an error.
     *
     * @param lockName the name of the election
     * @param candidacy the course of the candidacy
     * @param error the error
     * @param random a number in [0, 1)
     * @return the decision
     */
    public Step ended(String lockName, Candidacy candidacy, Throwable error, double random) {
        if (candidacy.tokenOfTerm() == 0) {
            boolean mayPass = error instanceof LockBackendException failure && failure.isTransient();
            CandidateState before = hasAnsweredMeanwhile(candidacy) ? of(backoff, leaseNanos) : this;
            return mayPass ? before.standAgain(before.inARow, random, true) : new Step.End();
        }
        return isLoss(lockName, candidacy, error)
                ? standAgain(candidacy.lastedNanos() > leaseNanos ? 0 : inARow, random, false)
                : new Step.End();
    }

    /**
     * An acquisition gives up after one lease duration of failures, with a pause before the last of them. A longer
     * candidacy got answers before these failures.
     */
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

    private Step standAgain(int before, double random, boolean backEndFails) {
        int count = before == Integer.MAX_VALUE ? before : before + 1;
        long pause = Math.max(
                StoreDurations.LEAST_PAUSE_NANOS, backoff.pause(count, random).toNanos());
        CandidateState next = new CandidateState(backoff, leaseNanos, count, backEndFails);
        return new Step.StandAgain(next, pause, backEndFails && !isBackEndUnreachable);
    }
}
