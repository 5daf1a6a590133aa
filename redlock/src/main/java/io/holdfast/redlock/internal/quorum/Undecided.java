package io.holdfast.redlock.internal.quorum;

import io.holdfast.LockBackendException;
import io.holdfast.redlock.Ballot;
import io.holdfast.redlock.Vote;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why no majority has answered, and what to do about it.
 *
 * @param mayTryAgain whether a majority may answer next time
 * @param majorityVotesAfter when a majority can vote again, if only abstaining masters prevent that now; null otherwise
 */
public record Undecided(boolean mayTryAgain, @Nullable Duration majorityVotesAfter) {

    /** Returns the failure for the caller. */
    public LockBackendException failure(Vote vote) {
        return mayTryAgain && majorityVotesAfter != null ? notYet(vote, majorityVotesAfter) : tooManyFailed(vote);
    }

    private static LockBackendException notYet(Vote vote, Duration after) {
        int masters = vote.ballots().size();
        int failed = vote.count(Ballot.Answer.FAILED);
        String message =
                "%s: %d of %d masters may not vote yet, as in quarantine after a restart%s, and %d votes are needed; try again in %d ms, or use acquire(), which waits"
                        .formatted(
                                vote,
                                vote.count(Ballot.Answer.ABSTAINED),
                                masters,
                                failed == 0 ? "" : ", %d failed".formatted(failed),
                                VoteCount.majorityOf(masters),
                                after.toMillis());
        return LockBackendException.notYet(vote.lockName(), message, after);
    }

    private LockBackendException tooManyFailed(Vote vote) {
        String advice = mayTryAgain
                ? "bring the failed masters back, or check the network to them; trying again may help"
                : "correct the errors of the failed masters; trying again does not help";
        int masters = vote.ballots().size();
        String message = "%s: too many masters failed, and %d of %d are needed; %s"
                .formatted(vote, VoteCount.majorityOf(masters), masters, advice);
        return new LockBackendException(vote.lockName(), message, mayTryAgain, null);
    }
}
