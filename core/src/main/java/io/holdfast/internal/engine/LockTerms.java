package io.holdfast.internal.engine;

import io.holdfast.LockOptions;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockFeature;
import java.time.Duration;

/**
 * Options with the values computed from them, once for all locks that share them.
 *
 * @param claimLease longer than that of the options if the minimum does not fit into it
 * @param gridPhaseNanos a random start of this client's renewal grid, so that clients do not renew in step
 */
public record LockTerms(
        LockOptions options, long operationNanos, long minHoldNanos, Duration claimLease, long gridPhaseNanos) {

    public enum Mode {
        /** One attempt, or empty. */
        TRY,
        /** One attempt, or a timeout. */
        ONE_ATTEMPT,
        WAIT
    }

    /** Checks the options against the client and its back end: see {@link io.holdfast.ReactiveLock#with}. */
    public static LockTerms of(Engine engine, LockOptions options) {
        engine.backend.checkLease(options.leaseDuration());
        long operationNanos = engine.operationTimeout(options).toNanos();
        long minHoldNanos = options.minHoldTime().map(Duration::toNanos).orElse(0L);
        Duration claimLease = lease(options.leaseDuration(), minHoldNanos, operationNanos);
        if (minHoldNanos > 0) {
            engine.require(LockFeature.MIN_HOLD, "keep a minHoldTime, since its locks end with a session");
            engine.backend.checkLease(claimLease);
        }
        return new LockTerms(options, operationNanos, minHoldNanos, claimLease, engine.gridPhaseNanos);
    }

    public Mode acquireMode() {
        return options.waitTimeout().filter(Duration::isZero).isPresent() ? Mode.ONE_ATTEMPT : Mode.WAIT;
    }

    public Duration leaseFor(long leftNanos) {
        return lease(options.leaseDuration(), leftNanos, operationNanos);
    }

    /** A grant arrives an operation timeout late, and its deadline is a margin early, at most: room for both. */
    static Duration lease(Duration usual, long leftNanos, long operationNanos) {
        if (leftNanos <= 0) {
            return usual;
        }
        long needed = Validity.leaseNanosFor(leftNanos + operationNanos);
        return needed > usual.toNanos() ? Duration.ofNanos(needed) : usual;
    }
}
