package io.holdfast.internal.handover;

import io.holdfast.internal.state.Validity;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One claim at the store: its place in the queue there, and what it may give away once it holds the lock. Used as {@link Waiter} is. */
public final class Turn {

    /** A grant names one of the last attempts; one that names an earlier one costs one more attempt. */
    private static final int KNOWN_LOOKS = 16;

    private static final long MILLI = 1_000_000;

    final HandOver of;
    private final LockClaim claim;
    private final long[] sentAt = new long[KNOWN_LOOKS];

    /** How many attempts were sent. */
    int attempt;

    /** The attempt in flight, 0 for none. */
    int looking;

    /** An attempt is worth its request before {@link #attemptAgainAtNanos}. */
    boolean isDue;

    long attemptAgainAtNanos;

    /** A waiter has to look for it by then, so that the store does not take it for abandoned. */
    long attendedUntilNanos;

    boolean isWatched;

    /** Its watch is being started, and its first attempt is sent after that. */
    boolean isStarting;

    boolean isArmed;

    /** No watch is wanted any more. */
    private boolean isUnwatched;

    /** Ends the watch. For the reactive part. */
    private @Nullable Runnable unwatch;

    // While it holds the lock.
    @Nullable
    Waiter owner;

    /** Looks up to this one were sent before the grant was known. */
    int grantedAtAttempt;

    /** The token of the owner. */
    long token;

    /** What the store has for this claim. */
    long storeToken;

    /** The store has acknowledged that no other claim gets a token up to this one. */
    long ceiling;

    /** A claim of this process releases it, with the number of its last attempt: an attempt that comes later takes nothing. */
    boolean isReleased;

    /** Its place is given up when this turn is released. */
    @Nullable
    Turn withdrawn;

    boolean isReserving;
    boolean isDoubted;
    int handOvers;
    private boolean isShortened;
    private long shortenedAtNanos;
    private long begunAtNanos;
    long validUntilNanos;

    /** The store ends it then, if it goes as fast as this clock. */
    long expiresAtNanos;

    Turn(HandOver of, LockClaim claim) {
        this.of = of;
        this.claim = claim;
    }

    /** As the next request carries it. */
    LockClaim claim() {
        return claim.withAttempt(Math.max(1, attempt));
    }

    LockClaim nextAttempt(long now) {
        attempt++;
        sentAt[attempt % KNOWN_LOOKS] = now;
        if (grantedAtAttempt == 0) {
            expiresAtNanos = now + claim.lease().toNanos(); // what the store may have of it is over then
        }
        return claim.withAttempt(attempt);
    }

    boolean knows(int look) {
        return look > 0 && look <= attempt && look > attempt - KNOWN_LOOKS;
    }

    long sentAt(int look) {
        return sentAt[look % KNOWN_LOOKS];
    }

    /** The store has granted the lock to it. */
    void begin(long granted, long until, long expires, long now) {
        grantedAtAttempt = attempt;
        grantedAnew(granted);
        validUntilNanos = until;
        expiresAtNanos = expires;
        begunAtNanos = now;
    }

    /** Another owner may have been before, so a block of tokens is void. */
    void grantedAnew(long granted) {
        token = granted;
        storeToken = granted;
        ceiling = granted;
    }

    /** The attempt that asks for a block of tokens. */
    LockClaim reserve(long floor, long now) {
        isReserving = true;
        return nextAttempt(now).withWaiting(Waiting.NONE).withTokenFloor(floor);
    }

    /** The store has the block. The time of the turn counts from now, since there was no hand-over before. */
    void acknowledged(long floor, long now) {
        storeToken = floor;
        ceiling = floor;
        begunAtNanos = now;
    }

    /**
     * A request with a shorter lease is sent now, and may let the store end this turn earlier, whether it is answered or not. Requests that were sent
     * before may be carried out before it, so what they promise does not count any more.
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

    /** So much from its attempt that its client computes a deadline which is that of the turn at the latest. */
    long sinceAttempt(Waiter waiter) {
        long toExpiry = expiresAtNanos - waiter.attemptedAtNanos;
        if (Validity.until(waiter.attemptedAtNanos, toExpiry) - validUntilNanos > 0) {
            long valid = validUntilNanos - waiter.attemptedAtNanos;
            return Math.max(0, valid + valid / 100 + 2 * MILLI);
        }
        return toExpiry;
    }

    /** No watch is wanted any more. */
    boolean stopWatch() {
        isUnwatched = true;
        return isWatched;
    }

    /**
     * What is released together with it.
     *
     * @return the place of the next turn, should no claim of this process want that; else null
     */
    public @Nullable LockClaim withdrawn() {
        return withdrawn == null ? null : withdrawn.claim();
    }

    /**
     * What to watch.
     *
     * @return its claim at the store
     */
    public LockClaim watched() {
        return claim;
    }

    /**
     * Its watch starts.
     *
     * @param ends ends it
     * @return false if it is not wanted any more
     */
    public boolean watchedBy(Runnable ends) {
        unwatch = ends;
        return !isUnwatched;
    }

    /**
     * Its watch.
     *
     * @return ends it; null before it has started
     */
    public @Nullable Runnable unwatch() {
        return unwatch;
    }

    /** Its watch has started: what is signalled after this is worth an attempt. */
    public void watching() {
        isStarting = false;
    }

    /** Whether the store has renewed it is not known. */
    public void renewalFailed() {
        isDoubted = true;
    }

    @Override
    public String toString() {
        return "turn %s, attempt %d, owner %s".formatted(claim.id(), attempt, owner);
    }
}
