package io.holdfast.internal.handover;

import io.holdfast.spi.LockClaim;
import org.jspecify.annotations.Nullable;

/** One claim at the store, and the claims of this process that it is for, first come first served. Used as {@link Waiter} is. */
public final class Turn {

    /** A grant names one of the last looks; one that names an earlier one costs one more look. */
    private static final int KNOWN_LOOKS = 16;

    final HandOver of;
    private final LockClaim claim;
    private final long[] sentAt = new long[KNOWN_LOOKS];

    /** How many looks were sent. */
    int attempt;

    /** The look in flight, 0 for none. */
    int looking;

    /** A look is worth its request before {@link #lookAgainAtNanos}. */
    boolean isDue;

    long lookAgainAtNanos;
    boolean isWatched;

    /** Its watch is being started, and its first look is sent after that. */
    boolean isStarting;

    boolean isArmed;

    /** No watch is wanted any more. */
    boolean isUnwatched;

    /** Ends the watch. For the reactive part. */
    @Nullable
    Runnable unwatch;

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

    /** A claim of this process releases it, with the number of its last look: a look that comes later takes nothing. */
    boolean isReleased;

    boolean isReserving;
    boolean isDoubted;
    int handOvers;
    long begunAtNanos;
    long validUntilNanos;

    /** The store ends it then, if it goes as fast as this clock. */
    long expiresAtNanos;

    // The queue.
    @Nullable
    Waiter first;

    @Nullable
    Waiter last;

    int size;

    Turn(HandOver of, LockClaim claim) {
        this.of = of;
        this.claim = claim;
    }

    /** As the next request carries it. */
    LockClaim claim() {
        return claim.withAttempt(Math.max(1, attempt));
    }

    LockClaim nextLook(long now) {
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

    void addLast(Waiter waiter) {
        waiter.turn = this;
        waiter.standing = Waiter.Standing.WAITING;
        waiter.before = last;
        waiter.behind = null;
        if (last == null) {
            first = waiter;
        } else {
            last.behind = waiter;
        }
        last = waiter;
        size++;
    }

    void addFirst(Waiter waiter) {
        waiter.turn = this;
        waiter.standing = Waiter.Standing.WAITING;
        waiter.before = null;
        waiter.behind = first;
        if (first == null) {
            last = waiter;
        } else {
            first.before = waiter;
        }
        first = waiter;
        size++;
    }

    void remove(Waiter waiter) {
        if (waiter.before == null) {
            first = waiter.behind;
        } else {
            waiter.before.behind = waiter.behind;
        }
        if (waiter.behind == null) {
            last = waiter.before;
        } else {
            waiter.behind.before = waiter.before;
        }
        waiter.before = null;
        waiter.behind = null;
        size--;
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

    @Override
    public String toString() {
        return "turn %s, look %d, %d waiting, owner %s".formatted(claim.id(), attempt, size, owner);
    }
}
