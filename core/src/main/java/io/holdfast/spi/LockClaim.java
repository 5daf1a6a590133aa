package io.holdfast.spi;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.support.Printable;
import java.time.Duration;

/**
 * The identity of one acquisition towards the back end. All attempts, renewals and the release of one acquisition carry
 * the same id.
 *
 * @param key the lock
 * @param id made by the engine: 128 random bits in hexadecimal, which no other acquisition uses, then
 *     {@value #OWNER_MARK} and the {@linkplain #owner() label of the owner}. Printable ASCII. A back end that keeps the
 *     id can report the owners of its locks without storing more
 * @param lease how long the server keeps the lock without a renewal; back ends honour whole milliseconds
 * @param waiting what the back end does when the lock is not available
 * @param attempt 1, 2, …: the number of this attempt of the claim; in a renewal or release, the number of attempts sent
 *     so far; in a release one more if one of them was never answered, since that one may arrive after the last
 * @param tokenFloor the token of a new grant is at least this, and the token of a held claim is raised to it; 0 for
 *     none. Ignored without {@link LockFeature#TOKEN_FLOOR}.
 * @param permits how many permits of a semaphore the claim takes, from 1 to {@link LockKey#permits()}; 1 for all other
 *     kinds. All attempts of a claim carry the same number. A renewal and a release need not: the server knows how many
 *     the claim has taken. More than 1 needs {@link LockFeature#MANY_PERMITS}
 * @param client the client whose {@linkplain LockRun runs} the claim may be part of, or may end as a reader, by a name
 *     that no other client has; empty for a claim outside of all runs. All requests of a claim carry the same, but one
 *     that must concern no run carries none. Ignored without {@link LockFeature#RUNS}
 */
public record LockClaim(
        LockKey key,
        String id,
        Duration lease,
        Waiting waiting,
        int attempt,
        long tokenFloor,
        int permits,
        String client) {

    /** Separates the random part of an id from the label of the owner. */
    public static final char OWNER_MARK = '@';

    /**
     * Checks the components.
     *
     * @param key the lock
     * @param id the id
     * @param lease at least 1 ms
     * @param waiting what the back end does when the lock is not available
     * @param attempt at least 1
     * @param tokenFloor not negative
     * @param permits at least 1, and at most the permits of the key
     * @param client the client; empty for none
     * @throws IllegalArgumentException if the lease is under a millisecond, or a number is out of its range
     */
    public LockClaim {
        requireNonNull(key, "key");
        requireNonNull(id, "id");
        requireNonNull(lease, "lease");
        requireNonNull(waiting, "waiting");
        requireNonNull(client, "client");
        if (lease.toMillis() < 1) {
            throw new IllegalArgumentException("lease must be at least 1 ms, was " + lease);
        }
        if (attempt < 1) {
            throw new IllegalArgumentException("attempt must be at least 1, was " + attempt);
        }
        if (tokenFloor < 0) {
            throw new IllegalArgumentException("tokenFloor must not be negative, was " + tokenFloor);
        }
        if (permits < 1 || permits > key.permits()) {
            throw new IllegalArgumentException("a claim of %s lock '%s' takes at least 1 and at most %d permits, not %d"
                    .formatted(key.kind(), Printable.text(key.name()), key.permits(), permits));
        }
    }

    /**
     * {@return a new claim with attempt 1, no floor, one permit, and no client}
     *
     * @param key the lock
     * @param id the id of the claim
     * @param lease the lease duration
     * @param waiting what the back end does when the lock is not available
     */
    public static LockClaim first(LockKey key, String id, Duration lease, Waiting waiting) {
        return new LockClaim(key, id, lease, waiting, 1, 0, 1, "");
    }

    /**
     * {@return this claim with the number of another attempt; itself when nothing differs}
     *
     * @param number the number of the attempt
     */
    public LockClaim withAttempt(int number) {
        return number == attempt ? this : new LockClaim(key, id, lease, waiting, number, tokenFloor, permits, client);
    }

    /**
     * {@return this claim with another floor}
     *
     * @param floor the least token
     */
    public LockClaim withTokenFloor(long floor) {
        return new LockClaim(key, id, lease, waiting, attempt, floor, permits, client);
    }

    /**
     * {@return this claim with another lease duration; itself when nothing differs}
     *
     * @param other at least 1 ms
     * @throws IllegalArgumentException if the lease is under a millisecond
     */
    public LockClaim withLease(Duration other) {
        return other.equals(lease)
                ? this
                : new LockClaim(key, id, other, waiting, attempt, tokenFloor, permits, client);
    }

    /**
     * {@return this claim with another way to wait}
     *
     * @param how what the back end does when the lock is not available
     */
    public LockClaim withWaiting(Waiting how) {
        return new LockClaim(key, id, lease, how, attempt, tokenFloor, permits, client);
    }

    /**
     * {@return this claim as one of a client, which may be part of a run}
     *
     * @param name the client; empty for none
     */
    public LockClaim withClient(String name) {
        return new LockClaim(key, id, lease, waiting, attempt, tokenFloor, permits, name);
    }

    /**
     * {@return this claim with another number of permits; itself when nothing differs}
     *
     * @param taken from 1 to the permits of the key
     * @throws IllegalArgumentException if the number is out of that range
     */
    public LockClaim withPermits(int taken) {
        return taken == permits ? this : new LockClaim(key, id, lease, waiting, attempt, tokenFloor, taken, client);
    }

    /**
     * {@return the label of the client that made this claim, for operators: {@code orders:host-7:4711}; empty for a
     * claim without one}
     */
    public String owner() {
        return ownerOf(id);
    }

    /**
     * {@return the label in a claim id: the text after the first {@value #OWNER_MARK}; empty for an id without it}
     *
     * @param id a claim id
     */
    public static String ownerOf(String id) {
        int mark = id.indexOf(OWNER_MARK);
        return mark < 0 ? "" : id.substring(mark + 1);
    }
}
