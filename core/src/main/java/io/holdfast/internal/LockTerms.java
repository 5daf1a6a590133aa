package io.holdfast.internal;

import io.holdfast.LockOptions;
import io.holdfast.internal.state.AcquirePlan;
import io.holdfast.internal.state.AcquirePlan.Mode;
import io.holdfast.internal.state.LeaseTerms;
import java.time.Duration;

/**
 * Options with what follows from them, computed once for all locks that share them.
 *
 * @param options how a lock is acquired and kept
 * @param operationNanos the time limit of one operation
 * @param tryPlan of {@code tryAcquire}
 * @param acquirePlan of {@code acquire}
 * @param unbounded of a lease without a longest hold time
 */
record LockTerms(
        LockOptions options, long operationNanos, AcquirePlan tryPlan, AcquirePlan acquirePlan, LeaseTerms unbounded) {

    /**
     * Checks the options against a client.
     *
     * @throws IllegalArgumentException if its operation timeout is too long for the lease
     */
    static LockTerms of(Engine engine, LockOptions options) {
        Mode mode = options.waitTimeout().filter(Duration::isZero).isPresent() ? Mode.ONE_LOOK : Mode.WAIT;
        return new LockTerms(
                options,
                engine.operationTimeout(options).toNanos(),
                plan(Mode.TRY, options),
                plan(mode, options),
                new LeaseTerms(options.autoRenew(), false, 0, engine.gridPhaseNanos));
    }

    private static AcquirePlan plan(Mode mode, LockOptions options) {
        return new AcquirePlan(
                mode, options.waitTimeout().isPresent(), options.leaseDuration().toNanos(), options.backoff());
    }

    LeaseTerms lease(long grantedAtNanos) {
        return options.maxHoldTime()
                .map(limit -> unbounded.until(grantedAtNanos + limit.toNanos()))
                .orElse(unbounded);
    }
}
