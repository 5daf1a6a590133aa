package io.holdfast.spi;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * One acquisition's identity towards the store. All looks, renewals and the release of one acquisition carry the same id.
 *
 * @param key which lock
 * @param id made by the engine: 128 random bits in hexadecimal, which are never used again for another acquisition, then {@value #OWNER_MARK} and
 *     the {@linkplain #owner() label of the owner}. Printable ASCII. A back end that keeps the id can tell its holders without keeping more
 * @param lease how long the store shall keep the lock without a renewal; whole milliseconds are honoured
 * @param waiting what the store does when the lock is not available
 * @param attempt 1, 2, … counts the looks of this claim; in a renewal or release, the number of looks sent so far
 * @param tokenFloor a new grant's token is at least this, and a held claim's token is raised to it; 0 for none. Ignored
 *     without {@link LockFeature#TOKEN_FLOOR}.
 */
public record LockClaim(LockKey key, String id, Duration lease, Waiting waiting, int attempt, long tokenFloor) {

    /** Stands in an id before the label of the owner. */
    public static final char OWNER_MARK = '@';

    /**
     * Checks the parts.
     *
     * @param key which lock
     * @param id the id
     * @param lease at least 1 ms
     * @param waiting what to do when the lock is not available
     * @param attempt at least 1
     * @param tokenFloor not negative
     * @throws IllegalArgumentException if the lease is under a millisecond, or a number is out of its range
     */
    public LockClaim {
        requireNonNull(key, "key");
        requireNonNull(id, "id");
        requireNonNull(lease, "lease");
        requireNonNull(waiting, "waiting");
        if (lease.toMillis() < 1) {
            throw new IllegalArgumentException("lease must be at least 1 ms, was " + lease);
        }
        if (attempt < 1) {
            throw new IllegalArgumentException("attempt must be at least 1, was " + attempt);
        }
        if (tokenFloor < 0) {
            throw new IllegalArgumentException("tokenFloor must not be negative, was " + tokenFloor);
        }
    }

    /**
     * The first look of a new claim.
     *
     * @param key which lock
     * @param id its id
     * @param lease its lease
     * @param waiting what to do when the lock is not available
     * @return attempt 1, no floor
     */
    public static LockClaim first(LockKey key, String id, Duration lease, Waiting waiting) {
        return new LockClaim(key, id, lease, waiting, 1, 0);
    }

    /**
     * The same claim at another look.
     *
     * @param number the number of the look
     * @return a copy, or this when nothing differs
     */
    public LockClaim withAttempt(int number) {
        return number == attempt ? this : new LockClaim(key, id, lease, waiting, number, tokenFloor);
    }

    /**
     * The same claim with another floor.
     *
     * @param floor the least token wanted
     * @return a copy
     */
    public LockClaim withTokenFloor(long floor) {
        return new LockClaim(key, id, lease, waiting, attempt, floor);
    }

    /**
     * The same claim with another lease.
     *
     * @param other at least 1 ms
     * @return a copy, or this when nothing differs
     * @throws IllegalArgumentException if the lease is under a millisecond
     */
    public LockClaim withLease(Duration other) {
        return other.equals(lease) ? this : new LockClaim(key, id, other, waiting, attempt, tokenFloor);
    }

    /**
     * The same claim that waits in another way.
     *
     * @param how what to do when the lock is not available
     * @return a copy
     */
    public LockClaim withWaiting(Waiting how) {
        return new LockClaim(key, id, lease, how, attempt, tokenFloor);
    }

    /**
     * The label of the client that made this claim, for the eyes of an operator: {@code orders:host-7:4711}.
     *
     * @return the label; empty for a claim without one
     */
    public String owner() {
        return ownerOf(id);
    }

    /**
     * The label in a claim id.
     *
     * @param id a claim id
     * @return what stands behind the first {@value #OWNER_MARK}; empty for an id without it
     */
    public static String ownerOf(String id) {
        int mark = id.indexOf(OWNER_MARK);
        return mark < 0 ? "" : id.substring(mark + 1);
    }
}
