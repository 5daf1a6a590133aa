package io.holdfast.r2dbc;

import io.holdfast.spi.LockKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;

/**
 * What the database knew of one lock at one instant: seen by {@link R2dbcLockInspector}, for the eyes of an operator. It may be
 * out of date when it arrives, and nothing may be decided by it that needs the lock. All times are by the server's clock.
 *
 * @param name the lock's name
 * @param type what the lock is; those of one name are different locks
 * @param at when the server was asked
 * @param holderCount how many hold it; a holder whose lease is over does not count, although it may still be stored
 * @param holders the holders, the first to expire first; at most {@value #MOST_HOLDERS}
 * @param waiterCount how many have a place in the queue, those included that died there and were not found out yet
 * @param waiters the head of the queue, the next one first; at most {@value #MOST_WAITERS}
 * @param asideCount how many were set aside, because they could not be told of a grant. Each one gets its place back with its next
 *     attempt
 * @param interestCount how many have no place and asked to be told when it gets free
 * @param lastToken the last fencing token granted; empty before the first one
 */
public record R2dbcLockReport(
        String name,
        Type type,
        Instant at,
        long holderCount,
        List<Holder> holders,
        long waiterCount,
        List<Waiter> waiters,
        long asideCount,
        long interestCount,
        OptionalLong lastToken) {

    /** So many holders are named at most: {@value}. */
    public static final int MOST_HOLDERS = 100;

    /** So many waiters are named at most: {@value}. */
    public static final int MOST_WAITERS = 10;

    /** What a lock is. */
    public enum Type {
        /** One holder. */
        MUTEX,
        /** Readers, or one writer. */
        READ_WRITE,
        /** One holder for each permit. */
        SEMAPHORE
    }

    /**
     * Tells whether the lock has a holder.
     *
     * @return true also for a semaphore with permits left
     */
    public boolean isHeld() {
        return holderCount > 0;
    }

    /**
     * Tells whether no claim holds the lock or waits for it.
     *
     * @return true for a lock of which only the last token is left
     */
    public boolean isIdle() {
        return holderCount + waiterCount + asideCount + interestCount == 0;
    }

    /**
     * A holder of a lock, or of a share of it.
     *
     * @param claimId the holding claim; the events and messages of the client that made it do not show it
     * @param kind what share it is: a reader's, the writer's, a permit, or the whole of a mutex
     * @param token its fencing token
     * @param since when it got the lock; the epoch when that is not known, because the server's clock was set back
     * @param held for how long it has had the lock; zero when that is not known
     * @param left how long the database keeps the lock for it if no renewal comes
     */
    public record Holder(String claimId, LockKind kind, long token, Instant since, Duration held, Duration left) {}

    /**
     * A claim that has a place in the queue.
     *
     * @param claimId the waiting claim
     * @param kind what it waits for
     * @param permits by how many permits a claim of a semaphore judges; else 1
     * @param channel where its client is told, one per client: waiters with the same one are of one process. Empty for a claim that
     *     only looks
     * @param isListening whether that client has a connection that listens. Without one, the claim is set aside when its turn comes
     * @param silent how long ago its last attempt was
     * @param lease what it asks for
     */
    public record Waiter(
            String claimId,
            LockKind kind,
            int permits,
            String channel,
            boolean isListening,
            Duration silent,
            Duration lease) {

        /**
         * Tells whether it has not attempted for half of its lease. Such a waiter is taken for dead: it loses its place when its
         * turn comes.
         *
         * @return true if so
         */
        public boolean isStale() {
            return silent.compareTo(lease.dividedBy(2)) >= 0;
        }
    }
}
