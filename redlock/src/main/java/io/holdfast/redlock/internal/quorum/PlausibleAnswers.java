package io.holdfast.redlock.internal.quorum;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The plausible part of the answer of one master, so that a broken or hostile master harms no vote of the others. Pure.
 *
 * <p>A time is cut to the requested lease: no master promises more than that. A master that promises less than half of
 * it has failed: the lease of a claim is the shortest of a majority, so it would end almost at once. {@link
 * AcquireQuorum} compares the tokens of several masters.
 */
public final class PlausibleAnswers {

    private PlausibleAnswers() {}

    /** Returns the answer with plausible times; null if it is not plausible. */
    public static @Nullable LockAttempt to(LockClaim claim, LockAttempt said) {
        if (said instanceof Acquired grant) {
            boolean isPossible = grant.fencingToken() > 0
                    && grant.fencingToken() < TokenFloor.LIMIT // masters refuse it as a floor
                    && isLongEnough(claim, grant.lease());
            return isPossible ? new Acquired(grant.fencingToken(), within(claim, grant.lease())) : null;
        }
        return said instanceof Queued queued
                ? new Queued(within(claim, queued.nextAttemptWithin()))
                : new Contended(within(claim, ((Contended) said).nextAttemptWithin()));
    }

    public static IllegalStateException absurd(LockClaim claim, Object said) {
        return new IllegalStateException("the master gave an impossible answer to a request for a lease of %d ms: %s"
                .formatted(claim.lease().toMillis(), said));
    }

    /** Returns a time from zero to the requested lease. */
    public static Duration within(LockClaim claim, Duration said) {
        if (said.isNegative()) {
            return Duration.ZERO;
        }
        return said.compareTo(claim.lease()) < 0 ? said : claim.lease();
    }

    /** Whether a master that holds the claim promises a time that is of use. */
    public static boolean isLongEnough(LockClaim claim, Duration said) {
        return within(claim, said).toNanos() >= claim.lease().toNanos() / 2;
    }
}
