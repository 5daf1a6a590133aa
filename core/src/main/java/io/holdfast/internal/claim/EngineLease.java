package io.holdfast.internal.claim;

import io.holdfast.LockLease;

public interface EngineLease extends LockLease, GuardedLease {

    /** The user cannot end it alone: a {@code withLock} or a {@code MultiLease} releases it. */
    default void bePart() {}
}
