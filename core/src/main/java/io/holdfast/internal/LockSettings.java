package io.holdfast.internal;

import io.holdfast.LockOptions;
import io.holdfast.internal.state.AcquirePlan.Mode;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;

/**
 * A lock's name and options, checked against its client.
 *
 * @param engine what all locks of the client share
 * @param key which lock
 * @param terms how it is acquired and kept
 */
record LockSettings(Engine engine, LockKey key, LockTerms terms) {

    static LockSettings of(Engine engine, LockKey key, LockOptions options) {
        return new LockSettings(engine, key, LockTerms.of(engine, options));
    }

    LockSettings with(LockOptions other) {
        engine.backend.checkLease(other.leaseDuration());
        return of(engine, key, other);
    }

    LockOptions options() {
        return terms.options();
    }

    /** The time limit of one operation. */
    long operationNanos() {
        return terms.operationNanos();
    }

    LockClaim newClaim(Mode mode) {
        Waiting waiting = mode == Mode.WAIT ? Waiting.QUEUE : Waiting.NONE;
        return LockClaim.first(key, engine.ids.next(), terms.claimLease(), waiting);
    }

    /** Until then the store may hold what a request that is in flight now asks for. */
    long storeForgetsAtNanos() {
        return engine.alarms.now() + terms.claimLease().toNanos() + operationNanos();
    }
}
