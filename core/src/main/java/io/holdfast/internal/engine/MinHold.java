package io.holdfast.internal.engine;

import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import java.time.Duration;
import java.util.TreeSet;

/**
 * Computes the lease duration that a claim requests, so that the server keeps the lock for the least hold time, even if
 * the client dies.
 *
 * <p>The minimum counts from the moment when this client receives the grant. The server granted it at most one
 * operation timeout before, and the local deadline comes a margin before the server's expiry. A lease with room for
 * both ends on neither side before the minimum.
 */
public final class MinHold {

    private MinHold() {}

    /** Returns the lease duration to request; {@code leftNanos} is the rest of the minimum from the send time. */
    public static Duration lease(Duration usual, long leftNanos, long operationNanos) {
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
                            .formatted(backend.name(), new TreeSet<>(backend.features())));
        }
        backend.checkLease(claimLease);
    }
}
