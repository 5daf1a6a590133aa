package io.holdfast.internal.engine;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;

/** A lease as the renewals know it. */
public interface Renewable {

    String lockName();

    long operationNanos();

    LockClaim renewal();

    /** In a row. */
    int renewalFailures();

    boolean isHeld();

    /** Includes a lease that is to be exported after the renewal. */
    boolean isToBeRenewed();

    /** The lease is not held any more. */
    void renewalNotSent();

    void renewalAnswered(long sentAtNanos, Renewal answer);

    void renewalFailed(LockBackendException error);
}
