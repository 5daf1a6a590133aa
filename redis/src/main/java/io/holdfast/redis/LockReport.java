package io.holdfast.redis;

import io.holdfast.spi.LockKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;

/**
 * What the server knew of one lock at one instant: seen by {@link RedisLockInspector}, for the eyes of an operator. It may be
 * out of date when it arrives, and nothing may be decided by it that needs the lock. All times are by the server's clock.
 *
 * @param name the lock's name
 * @param type what the lock is; those of one name are different locks
 * @param at when the server was asked
 * @param holderCount how many hold it; a holder whose time is over does not count, although it may still be stored
 * @param holders the holders, the first to expire first; at most {@value #MOST_HOLDERS}
 * @param waiterCount how many have a place in the queue, those included that died there and were not found out yet; not those that
 *     were set aside because they could not be told
 * @param waiters the head of the queue, the next one first; at most {@value #MOST_WAITERS}
 * @param interestCount how many have no place and asked to be told when it gets free
 * @param lastToken the last fencing token granted; empty two hours after the moment that it stands for, also while it is held
 * @param foreignKeys keys of this lock under which there is something else, which this library refuses to touch: acquiring
 *     and releasing fail until it is gone. What would be under them is not in this report
 */
public record LockReport(
        String name,
        Type type,
        Instant at,
        long holderCount,
        List<Holder> holders,
        long waiterCount,
        List<Waiter> waiters,
        long interestCount,
        OptionalLong lastToken,
        List<String> foreignKeys) {

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
     * A holder of a lock, or of a share of it.
     *
     * @param claimId the holding claim; the events and messages of the client that made it do not show it
     * @param kind what share it is: a reader's, the writer's, a permit, or the whole of a mutex
     * @param channel where its client is told of grants, one per client: holders with the same one are of one process. Empty
     *     for a claim that took the lock without waiting for it
     * @param token its fencing token
     * @param since when it got the lock; the epoch when that is not known, as for a mutex when the server's clock was set back
     * @param held for how long it has had the lock; zero when that is not known
     * @param left how long the server keeps the lock for it if no renewal comes
     * @param lease what it asked for last: {@code lease} minus {@code left} ago it acquired or renewed
     */
    public record Holder(
            String claimId,
            LockKind kind,
            String channel,
            long token,
            Instant since,
            Duration held,
            Duration left,
            Duration lease) {}

    /**
     * A claim that has a place in the queue.
     *
     * @param claimId the waiting claim
     * @param kind what it waits for
     * @param permits by how many permits a claim of a semaphore judges; else 1
     * @param channel where its client is told; empty for a claim that only looks
     * @param waiting for how long it has had its place
     * @param silent how long ago it looked last
     * @param lease what it asks for
     */
    public record Waiter(
            String claimId,
            LockKind kind,
            int permits,
            String channel,
            Duration waiting,
            Duration silent,
            Duration lease) {

        /**
         * Tells whether it has not looked for half of its lease. Such a waiter is taken for dead: it loses its place when its
         * turn comes.
         *
         * @return true if so
         */
        public boolean isStale() {
            return silent.compareTo(lease.dividedBy(2)) >= 0;
        }
    }
}
