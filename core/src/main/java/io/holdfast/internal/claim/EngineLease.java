package io.holdfast.internal.claim;

import io.holdfast.LockLease;
import reactor.core.publisher.Mono;

public interface EngineLease extends LockLease, GuardedLease {

    @Override
    Mono<Void> release();

    /** The user cannot end it alone: a {@code withLock} or a {@code MultiLease} releases it. */
    default void bePart() {}

    @Override
    boolean isValid();
}
