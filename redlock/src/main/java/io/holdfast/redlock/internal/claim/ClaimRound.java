package io.holdfast.redlock.internal.claim;

/** A round of attempts for one claim, as far as the claim needs to know it. */
public interface ClaimRound {

    /** Whether it is not decided yet. */
    boolean isOpen();

    /** Whether the answer of this master is still to come. */
    boolean isAwaiting(int master);

    /** Whether another round may win, if these masters have changed since, and the others that refused have not. */
    boolean mayBeFree(boolean[] changed);

    /** Withdraws the unanswered attempts: another round begins, and they would be in its way. */
    void giveWay();
}
