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
 * <p>A token that is out of range would be raised at all masters and use up the lock's tokens for good, so such a grant
 * is a failure. A time is cut to the requested lease: no master promises more than that.
 */
public final class PlausibleAnswers {

    /** From here on a double, which counts tokens in Lua, is not exact. */
    private static final long TOKENS_END = 1L << 53;

    private PlausibleAnswers() {}

    /** Returns the answer with plausible times; null if its token is not plausible. */
    public static @Nullable LockAttempt to(LockClaim claim, LockAttempt said) {
        if (said instanceof Acquired grant) {
            boolean isPossible =
                    grant.fencingToken() > 0 && grant.fencingToken() < TOKENS_END && isPositive(grant.lease());
            return isPossible ? new Acquired(grant.fencingToken(), within(claim, grant.lease())) : null;
        }
        return said instanceof Queued queued
                ? new Queued(within(claim, queued.nextAttemptWithin()))
                : new Contended(within(claim, ((Contended) said).nextAttemptWithin()));
    }

    public static IllegalStateException absurd(LockAttempt said) {
        return new IllegalStateException("the master gave an impossible answer: " + said);
    }

    /** Returns a time from zero to the requested lease. */
    public static Duration within(LockClaim claim, Duration said) {
        if (said.isNegative()) {
            return Duration.ZERO;
        }
        return said.compareTo(claim.lease()) < 0 ? said : claim.lease();
    }

    private static boolean isPositive(Duration time) {
        return !time.isNegative() && !time.isZero();
    }
}
