package io.holdfast.internal.state;

import io.holdfast.Backoff;
import io.holdfast.LockBackendException;
import io.holdfast.LockLostException;

/**
 * What a candidate of an election does when one candidacy has ended with an error: stand again, or end. Immutable.
 *
 * @param backoff the pauses before it stands again
 * @param leaseNanos a term that lasts longer starts them anew
 * @param inARow how many candidacies ended with a loss or with a failure of the store since then
 * @param isStoreAway whether the last one ended with a failure of the store
 */
public record CandidateState(Backoff backoff, long leaseNanos, int inARow, boolean isStoreAway) {

    /**
     * How a candidacy went.
     *
     * @param tokenOfTerm of the term that has begun; 0 when none has
     * @param lastedNanos how long ago that was; without a term, for how long the candidate stood
     * @param hasCompleted whether the term completed by itself
     */
    public record Candidacy(long tokenOfTerm, long lastedNanos, boolean hasCompleted) {}

    /** What follows. */
    public sealed interface Step {

        /** It is over: the subscriber gets the error. */
        record End() implements Step {}

        /**
         * It stands again.
         *
         * @param next the state from then on
         * @param pauseNanos before that
         * @param storeFailed whether the store is to blame, for the first time in a row
         */
        record StandAgain(CandidateState next, long pauseNanos, boolean storeFailed) implements Step {}
    }

    /**
     * A candidate.
     *
     * @param backoff the pauses before it stands again
     * @param leaseNanos a term that lasts longer starts them anew
     * @return nothing has gone wrong yet
     */
    public static CandidateState of(Backoff backoff, long leaseNanos) {
        return new CandidateState(backoff, leaseNanos, 0, false);
    }

    /**
     * A candidacy has ended with an error.
     *
     * @param lockName of the election
     * @param candidacy how it went
     * @param error what it ended with
     * @param random in [0, 1)
     * @return what follows
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

    /** An acquisition gives up after a lease of failures, the last of them after a pause: one that stood for longer was answered before these. */
    private boolean hasAnsweredMeanwhile(Candidacy candidacy) {
        long longestPause = backoff.pause(Integer.MAX_VALUE, 0).toNanos();
        return candidacy.lastedNanos() > 2 * leaseNanos + longestPause;
    }

    /** A term may be the first to find out about its own loss; one that has completed leads no more. */
    private static boolean isLoss(String lockName, Candidacy candidacy, Throwable error) {
        return !candidacy.hasCompleted()
                && error instanceof LockLostException lost
                && lost.lockName().equals(lockName)
                && lost.fencingToken() == candidacy.tokenOfTerm();
    }

    private Step standAgain(int before, double random, boolean storeFails) {
        int count = before == Integer.MAX_VALUE ? before : before + 1;
        long pause = Math.max(
                StoreDurations.LEAST_PAUSE_NANOS, backoff.pause(count, random).toNanos());
        CandidateState next = new CandidateState(backoff, leaseNanos, count, storeFails);
        return new Step.StandAgain(next, pause, storeFails && !isStoreAway);
    }
}
