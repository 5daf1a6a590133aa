package io.holdfast.internal.handover;

import io.holdfast.internal.run.Validity;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One claim at the back end: its place in the queue there, and the tokens that it may hand over while it holds the
 * lock. Used under the lock of its {@link HandOvers}.
 */
public final class Turn {

    /**
     * How many attempts the turn remembers: a grant names one of them; if it names an earlier one, that costs one more
     * attempt.
     */
    private static final int KNOWN_ATTEMPTS = 16;

    private static final long MILLI = 1_000_000;

    final HandOver of;
    private final LockClaim claim;
    private final long[] sentAt = new long[KNOWN_ATTEMPTS];

    /** The number of attempts sent. */
    int attempt;

    /** The number of the attempt in flight, 0 for none. */
    int attemptInFlight;

    /** Whether to send an attempt before {@link #attemptAgainAtNanos}. */
    boolean isDue;

    long attemptAgainAtNanos;

    /** A waiter has to send an attempt by then, so that the back end does not treat the turn as abandoned. */
    long attendedUntilNanos;

    boolean isWatched;

    /** Its watch is starting; its first attempt is sent after that. */
    boolean isStarting;

    boolean isArmed;

    /** Whether the watch is no longer needed. */
    private boolean isUnwatched;

    /** Ends the watch. For the reactive part. */
    private @Nullable Runnable unwatch;

    // The claim that has the lock, while this turn holds it.
    @Nullable
    Waiter owner;

    /** Attempts up to this number were sent before the grant was known. */
    int grantedAtAttempt;

    /** The token of the owner. */
    long token;

    /** The token of this claim at the back end. */
    long storeToken;

    /** The back end has acknowledged that no other claim gets a token up to this one. */
    long ceiling;

    /**
     * A claim of this process releases the turn, with the number of its last attempt: a later attempt takes nothing.
     */
    boolean isReleased;

    /** The turn whose place is withdrawn when this turn is released. */
    @Nullable
    Turn withdrawn;

    boolean isReserving;
    boolean isDoubted;
    int handOvers;
    private boolean isShortened;
    private long shortenedAtNanos;
    private long begunAtNanos;
    long validUntilNanos;

    /** The back end ends the turn then, if its clock runs as fast as this one. */
    long expiresAtNanos;

    Turn(HandOver of, LockClaim claim) {
        this.of = of;
        this.claim = claim;
    }

    /** Returns the claim as the next request carries it. */
    LockClaim claim() {
        return claim.withAttempt(Math.max(1, attempt));
    }

    LockClaim nextAttempt(long now) {
        attempt++;
        sentAt[attempt % KNOWN_ATTEMPTS] = now;
        if (grantedAtAttempt == 0) {
            expiresAtNanos = now + claim.lease().toNanos(); // a lock that this attempt may take has ended by then
        }
        return claim.withAttempt(attempt);
    }

    boolean knows(int number) {
        return number > 0 && number <= attempt && number > attempt - KNOWN_ATTEMPTS;
    }

    long sentAt(int number) {
        return sentAt[number % KNOWN_ATTEMPTS];
    }

    /** Begins the turn: the back end has granted the lock to it. */
    void begin(long granted, long until, long expires, long now) {
        grantedAtAttempt = attempt;
        grantedAnew(granted);
        validUntilNanos = until;
        expiresAtNanos = expires;
        begunAtNanos = now;
    }

    /** Sets a new token. Another owner may have held the lock in between, so a block of tokens is void. */
    void grantedAnew(long granted) {
        token = granted;
        storeToken = granted;
        ceiling = granted;
    }

    /** Returns the attempt that requests a block of tokens. */
    LockClaim reserve(long floor, long now) {
        isReserving = true;
        return nextAttempt(now).withWaiting(Waiting.NONE).withTokenFloor(floor);
    }

    /**
     * Records that the back end has acknowledged the block. The time of the turn counts from now, since there was no
     * hand-over before.
     */
    void acknowledged(long floor, long now) {
        storeToken = floor;
        ceiling = floor;
        begunAtNanos = now;
    }

    /**
     * Records a request with a shorter lease. With or without an answer, it may let the back end end this turn earlier.
     * The back end may carry out earlier requests before it, so their answers no longer extend the turn.
     */
    void shorten(Duration lease, long now) {
        long leaseNanos = lease.toNanos();
        if (leaseNanos >= claim.lease().toNanos()) {
            return;
        }
        isShortened = true;
        shortenedAtNanos = now;
        long until = Validity.until(now, leaseNanos);
        if (until - validUntilNanos < 0) {
            validUntilNanos = until;
            expiresAtNanos = now + leaseNanos;
        }
    }

    void extend(long sent, long until, long expires) {
        if (isShortened && sent - shortenedAtNanos < 0) {
            return;
        }
        if (until - validUntilNanos > 0) {
            validUntilNanos = until;
            expiresAtNanos = expires;
        }
        isDoubted = false;
    }

    boolean isWithin(Bounds bounds, long now) {
        return handOvers < bounds.mostHandOvers() && now - begunAtNanos < bounds.nanos() && !isDoubted;
    }

    void own(Waiter waiter) {
        owner = waiter;
        waiter.turn = this;
        waiter.standing = Waiter.Standing.OWNER;
        waiter.token = token;
        waiter.validUntilNanos = validUntilNanos;
    }

    /**
     * Returns the lease to report to an owner, counted from its attempt. The client then computes a deadline that is
     * not after the deadline of the turn.
     */
    long sinceAttempt(Waiter waiter) {
        long toExpiry = expiresAtNanos - waiter.attemptedAtNanos;
        if (Validity.until(waiter.attemptedAtNanos, toExpiry) - validUntilNanos > 0) {
            long valid = validUntilNanos - waiter.attemptedAtNanos;
            return Math.max(0, valid + valid / 100 + 2 * MILLI);
        }
        return toExpiry;
    }

    /** Records that the watch is no longer needed. */
    boolean stopWatch() {
        isUnwatched = true;
        return isWatched;
    }

    /**
     * Returns the claim to release together with this turn.
     *
     * @return the claim of the next turn, if no claim of this process wants it; else null
     */
    public @Nullable LockClaim withdrawn() {
        return withdrawn == null ? null : withdrawn.claim();
    }

    /**
     * Returns the claim to watch.
     *
     * @return the turn's claim at the back end
     */
    public LockClaim watched() {
        return claim;
    }

    /**
     * Records that the watch starts.
     *
     * @param ends ends the watch
     * @return false if the watch is no longer needed
     */
    public boolean watchedBy(Runnable ends) {
        unwatch = ends;
        return !isUnwatched;
    }

    /**
     * Returns the action that ends the watch.
     *
     * @return the action; null before the watch has started
     */
    public @Nullable Runnable unwatch() {
        return unwatch;
    }

    /** Records that the watch has started: a later signal is a reason for an attempt. */
    public void watching() {
        isStarting = false;
    }

    /** Records that the outcome of a renewal is unknown. */
    public void renewalFailed() {
        isDoubted = true;
    }

    @Override
    public String toString() {
        return "turn %s, attempt %d, owner %s".formatted(claim.id(), attempt, owner);
    }
}
