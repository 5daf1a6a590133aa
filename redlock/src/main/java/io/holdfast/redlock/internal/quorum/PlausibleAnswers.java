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
 * <p>A token is raised at all masters. One near the end of their range would use up the lock's tokens for good, so a
 * grant with a token that is too far ahead of this client's clock is a failure. That bound moves with the clock, faster
 * than grants raise a token. So even the highest token that one client believes is followed by others that all clients
 * believe. A token that the claim itself has requested is always plausible.
 *
 * <p>A time is cut to the requested lease: no master promises more than that.
 */
public final class PlausibleAnswers {

    /** Clocks of masters and clients differ by less: 142 years in microseconds. */
    private static final long MOST_AHEAD_MICROS = 1L << 52;

    private PlausibleAnswers() {}

    /**
     * Returns the answer with plausible times; null if its token is not plausible.
     *
     * @param nowMicros what this client's wall clock shows
     */
    public static @Nullable LockAttempt to(LockClaim claim, LockAttempt said, long nowMicros) {
        if (said instanceof Acquired grant) {
            long token = grant.fencingToken();
            boolean isPossible = token > 0
                    && token <= Math.max(claim.tokenFloor(), highestToken(nowMicros))
                    && isPositive(grant.lease());
            return isPossible ? new Acquired(token, within(claim, grant.lease())) : null;
        }
        return said instanceof Queued queued
                ? new Queued(within(claim, queued.nextAttemptWithin()))
                : new Contended(within(claim, ((Contended) said).nextAttemptWithin()));
    }

    /** Without a valid clock too, this is above all that clients propose. */
    private static long highestToken(long nowMicros) {
        return Math.min(Math.max(0, nowMicros), TokenFloor.LIMIT - 1 - MOST_AHEAD_MICROS) + MOST_AHEAD_MICROS;
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
