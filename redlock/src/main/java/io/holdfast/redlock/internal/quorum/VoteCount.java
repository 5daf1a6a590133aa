package io.holdfast.redlock.internal.quorum;

/**
 * The votes of an odd number of masters, each yes, no or failed, or still to come. A failed vote is unknown: it never
 * counts as a no, and never as a yes.
 *
 * @param masters how many may vote
 * @param yes how many said yes
 * @param no how many said no
 * @param failed how many got no request, or did not answer in time
 */
public record VoteCount(int masters, int yes, int no, int failed) {

    /** The decision by the votes so far. */
    public enum Decision {
        OPEN,
        YES,
        NO,
        UNKNOWN
    }

    public static VoteCount none(int masters) {
        return new VoteCount(masters, 0, 0, 0);
    }

    public static int majorityOf(int masters) {
        return masters / 2 + 1;
    }

    public VoteCount plusYes() {
        return new VoteCount(masters, yes + 1, no, failed);
    }

    public VoteCount plusNo() {
        return new VoteCount(masters, yes, no + 1, failed);
    }

    public VoteCount plusFailed() {
        return new VoteCount(masters, yes, no, failed + 1);
    }

    public int majority() {
        return majorityOf(masters);
    }

    int pending() {
        return masters - yes - no - failed;
    }

    /**
     * Whether a claim has the lock: a majority must say so, or a majority must deny it. A failed vote may be either. So
     * if neither majority is possible any more, it is unknown.
     */
    public Decision ofHolding() {
        if (yes >= majority()) {
            return Decision.YES;
        }
        if (no >= majority()) {
            return Decision.NO;
        }
        boolean isUndecidable = yes + pending() < majority() && no + pending() < majority();
        return isUndecidable ? Decision.UNKNOWN : Decision.OPEN;
    }

    /**
     * Whether a claim wins the lock. NO as soon as a majority of yes is out of reach, if a majority of the masters
     * works: another claim is in the way. UNKNOWN if a majority failed, and only when all masters have answered or
     * failed, so that the error has the answer of each.
     */
    Decision ofElection() {
        if (yes >= majority()) {
            return Decision.YES;
        }
        if (yes + pending() < majority() && failed + pending() < majority()) {
            return Decision.NO;
        }
        return pending() == 0 ? Decision.UNKNOWN : Decision.OPEN;
    }
}
