package io.holdfast.redlock.internal.quorum;

import io.holdfast.redlock.Vote;
import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The decision of one round of attempts: the answers of the masters, whether they decide the round, and which votes
 * have to be undone. A yes to a won round stays, since that master holds the claim as well. A yes to a lost round is
 * undone, and so is each vote whose outcome is unknown. Pure. Not thread-safe.
 */
public final class AcquireDecision {

    private static final AcquireQuorum.Next WAIT = new AcquireQuorum.Next.Open();
    private static final AcquireQuorum.Next GIVEN_UP = new AcquireQuorum.Next.GivenUp();

    private final AcquireQuorum quorum;
    private final VoteRecord votes;
    private final boolean wasHeld;

    private boolean isAbandoned;
    private AcquireQuorum.@Nullable Next outcome;

    /**
     * Begins before an attempt is sent.
     *
     * @param wasHeld whether the claim holds the lock, and its owner sends another attempt
     */
    public AcquireDecision(AcquireQuorum quorum, VoteRecord votes, boolean wasHeld) {
        this.quorum = quorum;
        this.votes = votes;
        this.wasHeld = wasHeld;
    }

    /** A master has answered. */
    public void heard(int master, LockAttempt answer, long nowNanos) {
        votes.put(master, answer, nowNanos);
        quorum.heard(master, answer);
    }

    /** A master has failed, or may not vote yet. */
    public void failed(int master, Throwable why, long nowNanos) {
        votes.put(master, why, nowNanos);
        if (VoteRecord.abstention(why).isPresent()) {
            quorum.abstained(master);
        } else {
            quorum.failed(master);
        }
    }

    /** The subscriber of the answer has left. */
    public void abandon() {
        isAbandoned = true;
    }

    /**
     * Returns what to do now.
     *
     * @param isReleased whether the claim was released: then it must not be won any more
     */
    public AcquireQuorum.Next next(boolean isReleased) {
        if (isDecided()) {
            return WAIT;
        }
        return isAbandoned || isReleased ? GIVEN_UP : quorum.next();
    }

    /** The round has done it. */
    public void decided(AcquireQuorum.Next next) {
        if (!(next instanceof AcquireQuorum.Next.Raise || next instanceof AcquireQuorum.Next.Open)) {
            outcome = next;
            votes.disbelieve(quorum::isDisbelieved);
        }
    }

    public boolean isAbandoned() {
        return isAbandoned;
    }

    public boolean isDecided() {
        return outcome != null;
    }

    /**
     * Whether the claim may hold the lock as before: too few masters have answered another attempt of a holder, or the
     * round was given up. Its owner releases it, or it expires. A round that undid its votes beside that release would
     * make the masters tell the owner that the lock was lost.
     */
    public boolean keepsWhatItHeld() {
        return wasHeld && !(outcome instanceof AcquireQuorum.Next.Lost);
    }

    private boolean isWon() {
        return outcome instanceof AcquireQuorum.Next.Won;
    }

    /** Whether the answer of this master, or its failure, leaves a vote that is in the way of other claims. */
    public boolean hasToBeUndone(int master) {
        return isDecided() && !isWon() && !keepsWhatItHeld() && !quorum.hasRefused(master) && !quorum.isPending(master);
    }

    /** Whether this master may have granted the claim, or may still do so, to a round that has not won. */
    public boolean mayStillHold(int master) {
        return !isWon() && !keepsWhatItHeld() && !quorum.hasRefused(master);
    }

    /** Whether another round may win, if these masters have changed since, and the others that refused have not. */
    public boolean mayBeFree(boolean[] changed) {
        int refused = 0;
        for (int master = 0; master < changed.length; master++) {
            refused += quorum.hasRefused(master) && !changed[master] ? 1 : 0;
        }
        return refused < VoteCount.majorityOf(changed.length);
    }

    /** Whether other claims have part of the votes, and this one the others. */
    public boolean isSplit() {
        return quorum.granted() > 0;
    }

    /** Returns the highest token of any grant that came; 0 without one. */
    public long highestGranted() {
        return quorum.highestGranted();
    }

    /** Returns when a majority may be free, as the masters report it. */
    public Duration freeWithin(Duration fallback) {
        return quorum.majorityFreeWithin(fallback);
    }

    public Vote vote(String lockName, Vote.Outcome how, long nowNanos) {
        return votes.vote(lockName, Vote.Question.ACQUIRE, how, quorum.rounds(), nowNanos);
    }

    /** Returns the details for the error of a round that no majority has decided. */
    public Undecided undecided() {
        return votes.undecided();
    }
}
