package io.holdfast.internal;

import io.holdfast.LockOptions;
import io.holdfast.internal.state.AcquirePlan;
import io.holdfast.internal.state.AcquirePlan.Mode;
import io.holdfast.internal.state.LeaseTerms;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import java.time.Duration;

/**
 * A lock's name and options, checked against its client.
 *
 * @param engine what all locks of the client share
 * @param key which lock
 * @param options how it is acquired and kept
 * @param operationNanos the time limit of one operation
 */
record LockSettings(Engine engine, LockKey key, LockOptions options, long operationNanos) {

    static LockSettings of(Engine engine, LockKey key, LockOptions options) {
        return new LockSettings(
                engine, key, options, engine.operationTimeout(options).toNanos());
    }

    LockSettings with(LockOptions other) {
        engine.backend.checkLease(other.leaseDuration());
        return of(engine, key, other);
    }

    AcquirePlan plan(Mode mode) {
        boolean limited = options.waitTimeout().isPresent();
        return new AcquirePlan(mode, limited, options.leaseDuration().toNanos(), options.backoff());
    }

    Mode waitMode() {
        return options.waitTimeout().filter(Duration::isZero).isPresent() ? Mode.ONE_LOOK : Mode.WAIT;
    }

    LockClaim newClaim(Mode mode) {
        Waiting waiting = mode == Mode.WAIT ? Waiting.QUEUE : Waiting.NONE;
        return LockClaim.first(key, engine.ids.next(), options.leaseDuration(), waiting);
    }

    LeaseTerms terms(long grantedAtNanos) {
        return new LeaseTerms(
                options.autoRenew(),
                options.maxHoldTime().isPresent(),
                options.maxHoldTime()
                        .map(limit -> grantedAtNanos + limit.toNanos())
                        .orElse(0L),
                engine.gridPhaseNanos);
    }

    /** Until then the store may hold what a request that is in flight now asks for. */
    long storeForgetsAtNanos() {
        return engine.alarms.now() + options.leaseDuration().toNanos() + operationNanos;
    }
}
