package io.holdfast.internal;

import io.holdfast.internal.state.Validity;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import java.time.Duration;

/**
 * How long a claim has to ask for the lock so that the store keeps it for the least hold time, whatever becomes of the client.
 *
 * <p>The minimum counts from the moment at which this client hears of the grant. The store granted it at most one operation timeout before, and
 * the local deadline comes a margin before the store's: a lease with room for both is over neither here nor there before the minimum is.
 */
final class MinHold {

    private MinHold() {}

    /**
     * The lease to ask for.
     *
     * @param usual what is asked for when no minimum is left
     * @param leftNanos of the minimum, from when the request is sent; not above 0 for none
     * @param operationNanos the time limit of one operation
     * @return the longer one
     */
    static Duration lease(Duration usual, long leftNanos, long operationNanos) {
        if (leftNanos <= 0) {
            return usual;
        }
        long needed = Validity.leaseNanosFor(leftNanos + operationNanos);
        return needed > usual.toNanos() ? Duration.ofNanos(needed) : usual;
    }

    static void require(LockBackend backend, Duration claimLease) {
        if (!backend.features().contains(LockFeature.MIN_HOLD)) {
            throw new UnsupportedOperationException(
                    "back end %s cannot keep a minHoldTime, only %s: its locks end with the session of their client"
                            .formatted(backend.name(), backend.features()));
        }
        backend.checkLease(claimLease);
    }
}
