package io.holdfast.internal.engine;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;

public interface Renewable {

    LockSettings lock();

    LockClaim renewal();

    int renewalFailures();

    boolean isHeld();

    /** Called right before the renewal is sent; after false, the renewal has ended without an answer. */
    boolean startsRenewal();

    void renewalAnswered(long sentAtNanos, Renewal answer);

    void renewalFailed(LockBackendException error);
}
