package io.holdfast.internal.engine;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;

/** A lease as the renewals know it. */
public interface Renewable {

    String lockName();

    /** Returns the time limit of one renewal. */
    long operationNanos();

    /** Returns the claim as the next renewal carries it. */
    LockClaim renewal();

    /** Returns how many renewals have failed in a row. */
    int renewalFailures();

    boolean isHeld();

    /** Includes a lease that is to be exported after the renewal. */
    boolean isToBeRenewed();

    /** Handles a renewal that was not sent, since the lease is not held any more. */
    void renewalNotSent();

    void renewalAnswered(long sentAtNanos, Renewal answer);

    void renewalFailed(LockBackendException error);
}
