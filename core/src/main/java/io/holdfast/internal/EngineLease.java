package io.holdfast.internal;

import io.holdfast.LockLease;
import reactor.core.publisher.Mono;

/** The engine's view of each lease of one lock that it hands out. */
interface EngineLease extends LockLease, GuardedLease {

    @Override
    Mono<Void> release();
}
