package io.holdfast.internal.claim;

import io.holdfast.LockLease;
import reactor.core.publisher.Mono;

/** The engine's view of each lease of one lock that it hands out. */
public interface EngineLease extends LockLease, GuardedLease {

    @Override
    Mono<Void> release();
}
