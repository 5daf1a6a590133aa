package io.holdfast.internal.engine;

import io.holdfast.LockOptions;
import io.holdfast.internal.engine.AcquirePlan.Mode;
import java.time.Duration;

/**
 * Options with the values computed from them, once for all locks that share them.
 *
 * @param operationNanos the time limit of one operation
 * @param minHoldNanos 0 for no minimum
 * @param claimLease the lease duration that a claim requests: longer than that of the options if the minimum does not
 *     fit into it
 * @param unbounded for a lease without a longest hold time
 */
public record LockTerms(
        LockOptions options,
        long operationNanos,
        AcquirePlan tryPlan,
        AcquirePlan acquirePlan,
        long minHoldNanos,
        Duration claimLease,
        LeaseTerms unbounded) {

    /** Checks the options against the client and its back end: see {@link io.holdfast.ReactiveLock#with}. */
    public static LockTerms of(Engine engine, LockOptions options) {
        Mode mode = options.waitTimeout().filter(Duration::isZero).isPresent() ? Mode.ONE_ATTEMPT : Mode.WAIT;
        long operationNanos = engine.operationTimeout(options).toNanos();
        long minHoldNanos = options.minHoldTime().map(Duration::toNanos).orElse(0L);
        Duration claimLease = MinHold.lease(options.leaseDuration(), minHoldNanos, operationNanos);
        if (minHoldNanos > 0) {
            MinHold.require(engine.backend, claimLease);
        }
        return new LockTerms(
                options,
                operationNanos,
                plan(Mode.TRY, options),
                plan(mode, options),
                minHoldNanos,
                claimLease,
                new LeaseTerms(options.autoRenew(), false, 0, engine.gridPhaseNanos));
    }

    private static AcquirePlan plan(Mode mode, LockOptions options) {
        return new AcquirePlan(
                mode,
                options.waitTimeout().isPresent(),
                options.leaseDuration().toNanos(),
                options.minHoldTime().isPresent(),
                options.backoff());
    }

    public LeaseTerms lease(long grantedAtNanos) {
        return options.maxHoldTime()
                .map(limit -> unbounded.until(grantedAtNanos + limit.toNanos()))
                .orElse(unbounded);
    }
}
