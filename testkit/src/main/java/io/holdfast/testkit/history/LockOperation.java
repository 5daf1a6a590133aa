package io.holdfast.testkit.history;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import java.util.ArrayList;
import java.util.List;

/**
 * One acquisition and its outcome. A time that is unknown, or of an event that did not happen, is {@link #NEVER}.
 *
 * @param process the process of the acquisition
 * @param number the number of the acquisition in its process
 * @param lock the lock
 * @param permits how many permits of a semaphore it takes; 1 for other kinds
 * @param askedAt when a subscriber requested it
 * @param queuedAt when it was seen to have a place in the queue
 * @param unsureAt from when on its place may be lost
 * @param acquiredAt when the lease was emitted
 * @param token the fencing token; 0 without a lease
 * @param believedUntil the end of the belief, which lasts from the emission to the earliest of: release called, loss
 *     signalled, validity over. If the validity is unknown, it is the time of the emission. {@link #NEVER} without a
 *     lease.
 * @param endedAt when the acquisition ended without a lease
 * @param goesOnWith the token of the lease that it continues: that of the exporter for an adoption, that of the writer
 *     for a downgrade; 0 for a new acquisition
 */
public record LockOperation(
        String process,
        long number,
        LockKey lock,
        int permits,
        long askedAt,
        long queuedAt,
        long unsureAt,
        long acquiredAt,
        long token,
        long believedUntil,
        long endedAt,
        long goesOnWith) {

    /** The time of an event that did not happen. */
    public static final long NEVER = Long.MAX_VALUE;

    /**
     * Returns whether it got a lease.
     *
     * @return true if a lease was emitted
     */
    public boolean hasAcquired() {
        return acquiredAt != NEVER;
    }

    /**
     * Returns whether it continues the hold of another operation.
     *
     * @return false for a new acquisition
     */
    public boolean isSuccessor() {
        return goesOnWith != 0;
    }

    /**
     * Returns whether it excludes all other owners.
     *
     * @return true for a mutex and a writer
     */
    public boolean isExclusive() {
        return lock.kind() == LockKind.MUTEX || lock.kind() == LockKind.WRITE;
    }

    /** Returns whether the two operations cannot hold at the same time, in either order. Both are of one lock. */
    boolean excludes(LockOperation other) {
        if (lock.kind() == LockKind.SEMAPHORE) {
            return (long) permits + other.permits > Math.max(lock.permits(), other.lock.permits());
        }
        return isExclusive() || other.isExclusive();
    }

    /** Returns an id of the lock: the two sides of a read/write lock are one lock, other kinds of one name are not. */
    String lockId() {
        return switch (lock.kind()) {
                    case MUTEX -> "mutex ";
                    case READ, WRITE -> "read/write lock ";
                    case SEMAPHORE -> "semaphore ";
                }
                + lock.name();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("%s#%d %s '%s'".formatted(process, number, lock.kind(), lock.name()));
        if (lock.kind() == LockKind.SEMAPHORE) {
            text.append(permits == 1 ? "" : " takes " + permits).append(" of ").append(lock.permits());
        }
        text.append(" asked ").append(askedAt);
        if (isSuccessor()) {
            text.append(" to go on with token ").append(goesOnWith);
        }
        append(text, " queued ", queuedAt);
        append(text, " place unsure ", unsureAt);
        append(text, " acquired ", acquiredAt);
        if (hasAcquired()) {
            text.append(" token ").append(token);
            append(text, " believed until ", believedUntil);
        }
        append(text, " ended ", endedAt);
        return text.toString();
    }

    private static void append(StringBuilder text, String what, long time) {
        if (time != NEVER) {
            text.append(what).append(time);
        }
    }

    /** Collects the events of one acquisition while a history is read. */
    static final class Collected {

        private final HistoryEvent asked;
        private final List<HistoryEvent> others = new ArrayList<>(4);

        Collected(HistoryEvent asked) {
            this.asked = asked;
        }

        void add(HistoryEvent event) {
            if (event.what() != HistoryEvent.What.ASKED) {
                others.add(event);
            }
        }

        LockOperation operation() {
            long queued = NEVER;
            long unsure = NEVER;
            long acquired = NEVER;
            long token = 0;
            long ended = NEVER;
            long valid = Long.MIN_VALUE;
            long stopped = NEVER;
            for (HistoryEvent event : others) {
                switch (event.what()) {
                    case QUEUED -> queued = Math.min(queued, event.nanos());
                    case PLACE_UNSURE -> unsure = Math.min(unsure, event.nanos());
                    case ACQUIRED -> {
                        acquired = event.nanos();
                        token = event.token();
                        valid = Math.max(valid, event.value() == 0 ? event.nanos() : event.value());
                    }
                    case VALID -> valid = Math.max(valid, event.value());
                    case INVALID, RELEASE_ASKED, RELEASED, LOST -> stopped = Math.min(stopped, event.nanos());
                    case ENDED -> ended = Math.min(ended, event.nanos());
                    default -> {}
                }
            }
            long until = acquired == NEVER ? NEVER : Math.max(acquired, Math.min(valid, stopped));
            return new LockOperation(
                    asked.process(),
                    asked.operation(),
                    requireNonNull(asked.lock()),
                    (int) Math.max(1, asked.value()),
                    asked.nanos(),
                    queued,
                    unsure,
                    acquired,
                    token,
                    until,
                    ended,
                    asked.token());
        }
    }
}
