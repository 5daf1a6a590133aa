package io.holdfast.redlock.internal.claim;

/** A round that asks the masters for one claim, as far as the claim needs to know it. */
public interface ClaimRound {

    /** Whether it is not decided yet. */
    boolean isOpen();

    /** Whether the answer of this master is still to come. */
    boolean isAwaiting(int master);

    /** Whether another round may win, when these masters have changed since, and those that refused are as they were otherwise. */
    boolean mayBeFree(boolean[] changed);

    /** Another round begins: withdraws what is not answered yet, which would be in its way. */
    void giveWay();
}
