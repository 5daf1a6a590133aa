package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The state of one lock at one instant, as the back end knew it, for operators. It may be out of date when it arrives:
 * use it for no decision that needs the lock. The server's clock measures all durations.
 *
 * @param name the lock's name
 * @param type the type of the lock; locks of one name with different types are different locks
 * @param holderCount how many claims hold the lock
 * @param holders the holders, those with lower tokens first; at most {@value #MOST_HOLDERS}
 * @param waiterCount how many claims have a place in the queue, including claims of dead clients that the back end has
 *     not detected yet
 * @param waiters the head of the queue, the next waiter first; at most {@value #MOST_WAITERS}
 * @param lastToken the last granted fencing token; empty when the back end does not know it
 * @param details further data of this back end, in the order to show them, from a name to its value. Names and values
 *     may change
 * @param warnings problems that an operator should solve, a sentence each; most often none
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

    /** The longest list of holders: {@value}. */
    public static final int MOST_HOLDERS = 100;

    /** The longest list of waiters: {@value}. */
    public static final int MOST_WAITERS = 10;

    /** The type of a lock. */
    public enum Type {
        /** One holder. */
        MUTEX,
        /** Readers, or one writer. */
        READ_WRITE,
        /** Holders that take one permit each, or several. */
        SEMAPHORE;

        /**
         * {@return the type of a lock}
         *
         * @param kind the kind of one of its claims
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
     * @param type the type of the lock
     * @param holderCount how many claims hold the lock
     * @param holders the holders
     * @param waiterCount how many claims have a place in the queue
     * @param waiters the head of the queue
     * @param lastToken the last fencing token granted
     * @param details further data of this back end
     * @param warnings problems that an operator should solve
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

    /** {@return whether the lock has a holder; true also for a semaphore with free permits, if it has one} */
    public boolean isHeld() {
        return holderCount > 0;
    }
}
