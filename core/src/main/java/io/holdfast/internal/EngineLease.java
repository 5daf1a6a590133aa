package io.holdfast.internal;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;

/** What the engine knows of each lease that it hands out. */
interface EngineLease extends LockLease {

    /** What its user is told when the lease does not hold the lock any more. Not to be asked of a valid lease. */
    LockLostException lost();
}
