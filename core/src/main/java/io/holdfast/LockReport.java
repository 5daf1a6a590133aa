package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockKind;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * What a store knew of one lock at one instant, for the eyes of an operator. It may be out of date when it arrives, and nothing may be decided by it that
 * needs the lock. All durations are by the clock of the store.
 *
 * @param name the lock's name
 * @param type what the lock is; those of one name are different locks
 * @param holderCount how many claims hold it
 * @param holders the holders, those with lower tokens first; at most {@value #MOST_HOLDERS}
 * @param waiterCount how many claims have a place in the queue, those included whose client died there and was not found out yet
 * @param waiters the head of the queue, the next one first; at most {@value #MOST_WAITERS}
 * @param lastToken the last fencing token granted; empty when the store does not know it
 * @param details what this store can tell besides, in the order to show it, from a name to its value. Names and values may change
 * @param warnings what an operator should see to, a sentence each; most often none
 */
public record LockReport(
        String name,
        Type type,
        long holderCount,
        List<LockHolder> holders,
        long waiterCount,
        List<LockWaiter> waiters,
        OptionalLong lastToken,
        Map<String, String> details,
        List<String> warnings) {

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
        /** Holders that take one permit each, or several. */
        SEMAPHORE;

        /**
         * What the lock is that has claims of a kind.
         *
         * @param kind of one of its claims
         * @return the type
         */
        public static Type of(LockKind kind) {
            return switch (kind) {
                case MUTEX -> MUTEX;
                case READ, WRITE -> READ_WRITE;
                case SEMAPHORE -> SEMAPHORE;
            };
        }
    }

    /**
     * Copies the lists and the details.
     *
     * @param name the lock's name
     * @param type what the lock is
     * @param holderCount how many claims hold it
     * @param holders the holders
     * @param waiterCount how many claims have a place in the queue
     * @param waiters the head of the queue
     * @param lastToken the last fencing token granted
     * @param details what this store can tell besides
     * @param warnings what an operator should see to
     */
    public LockReport {
        requireNonNull(name, "name");
        requireNonNull(type, "type");
        requireNonNull(lastToken, "lastToken");
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
        warnings = List.copyOf(warnings);
    }

    /**
     * Tells whether the lock has a holder.
     *
     * @return true also for a semaphore with permits left
     */
    public boolean isHeld() {
        return holderCount > 0;
    }
}
