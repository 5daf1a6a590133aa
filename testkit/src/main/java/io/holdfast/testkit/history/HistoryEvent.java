package io.holdfast.testkit.history;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One event of a process, and its form as a line of text.
 *
 * @param nanos the time, on the clock that all processes of the history share
 * @param process the name of the process
 * @param operation the number of the acquisition in this process, from 1; 0 for none
 * @param what the kind of the event
 * @param lock the lock; given with {@link What#ASKED}, else null
 * @param token the fencing token; with {@link What#ASKED} that of the lease that is continued; 0 for none
 * @param value a number whose meaning depends on the kind; 0 for none
 * @param note a remark for the reader, or a description of leftovers
 */
public record HistoryEvent(
        long nanos,
        String process,
        long operation,
        What what,
        @Nullable LockKey lock,
        long token,
        long value,
        String note) {

    private static final int FIELDS = 10;

    /** Kinds of events. */
    public enum What {
        /**
         * A subscriber requested an acquisition; {@code value} is how many permits of a semaphore it takes, 0 for one.
         */
        ASKED,
        /** The acquisition was seen to have a place in the server's queue. */
        QUEUED,
        /** From now on the place in the queue may be lost: a fault has hit its owner or the server. */
        PLACE_UNSURE,
        /** The lease was emitted, with its token; {@code value} is the known end of its validity, 0 if not known. */
        ACQUIRED,
        /** The lease was valid; {@code value} is the known end of its validity. */
        VALID,
        /** The lease was seen to be invalid. */
        INVALID,
        /** The release was called. */
        RELEASE_ASKED,
        /** The release was confirmed. */
        RELEASED,
        /** The loss was signalled. */
        LOST,
        /** The acquisition ended without a lease: empty, timeout, cancelled, failed. */
        ENDED,
        /** A fenced register took a write; {@code value} is the number of that write in the register's own order, from 1. */
        WRITTEN,
        /** A fenced register refused a write. */
        REFUSED,
        /** The outcome of a write is unknown. */
        WRITE_UNKNOWN,
        /** No fault is injected after this, and everything that was broken works again. */
        FAULTS_ENDED,
        /** Data was left at the back end after all had ended; the note describes it. */
        LEFT
    }

    /**
     * Checks the components.
     *
     * @param nanos the time
     * @param process the name of the process; not empty
     * @param operation not negative
     * @param what the kind of the event
     * @param lock the lock, with {@link What#ASKED}
     * @param token not negative
     * @param value a number whose meaning depends on the kind
     * @param note a remark
     * @throws IllegalArgumentException if a component is out of its range, or an acquisition names no lock
     */
    public HistoryEvent {
        requireNonNull(what, "what");
        requireNonNull(note, "note");
        if (process.isEmpty() || operation < 0 || token < 0) {
            throw new IllegalArgumentException(
                    "an event needs a process, and no negative numbers, was '%s' %d %s token %d"
                            .formatted(process, operation, what, token));
        }
        if (what == What.ASKED && lock == null) {
            throw new IllegalArgumentException("acquisition %d of %s must name its lock".formatted(operation, process));
        }
    }

    /**
     * Formats the event as a line of fields between single blanks. Texts are encoded, so a line has no line break.
     *
     * @return the line without a line end
     */
    public String line() {
        String key = lock == null ? "- - 0" : lock.kind() + " " + encoded(lock.name()) + " " + lock.permits();
        return nanos + " " + encoded(process) + " " + operation + " " + what + " " + key + " " + token + " " + value
                + " ." + encoded(note);
    }

    /**
     * Parses a line.
     *
     * @param line a line of {@link #line}
     * @return empty when the line is cut off or malformed, as the last line of a killed process may be
     */
    public static Optional<HistoryEvent> parse(String line) {
        String[] field = line.split(" ", -1);
        if (field.length != FIELDS || !field[9].startsWith(".")) {
            return Optional.empty();
        }
        try {
            LockKey lock = field[4].equals("-")
                    ? null
                    : new LockKey(LockKind.valueOf(field[4]), decoded(field[5]), Integer.parseInt(field[6]));
            return Optional.of(new HistoryEvent(
                    Long.parseLong(field[0]),
                    decoded(field[1]),
                    Long.parseLong(field[2]),
                    What.valueOf(field[3]),
                    lock,
                    Long.parseLong(field[7]),
                    Long.parseLong(field[8]),
                    decoded(field[9].substring(1))));
        } catch (IllegalArgumentException malformed) {
            return Optional.empty();
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
