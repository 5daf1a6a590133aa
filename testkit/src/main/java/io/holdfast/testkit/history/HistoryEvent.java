package io.holdfast.testkit.history;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One thing that a process did or saw, and its form as a line of text.
 *
 * @param nanos when, on the clock that all processes of the history share
 * @param process who
 * @param operation which acquisition of this process, from 1; 0 for what concerns none
 * @param what what it was
 * @param lock which lock; given with {@link What#ASKED}, else null
 * @param token the fencing token; with {@link What#ASKED} that of the lease that is gone on with; 0 for none
 * @param value what the kind of event says; 0 for none
 * @param note a remark for the reader, or what was found
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
        /** An acquisition was subscribed to; {@code value} is how many permits of a semaphore it takes, 0 for one. */
        ASKED,
        /** The acquisition is known to have a place in the server's queue. */
        QUEUED,
        /** From here on the place in the queue may be lost: a fault has hit its owner or the server. */
        PLACE_UNSURE,
        /** The lease was emitted, with its token; {@code value} is until when it is valid by what is known now, 0 if not known. */
        ACQUIRED,
        /** The lease was valid; {@code value} is until when, by what is known now. */
        VALID,
        /** The lease was seen not to be valid any more. */
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
        /** A write whose outcome is not known. */
        WRITE_UNKNOWN,
        /** No fault is injected after this, and what was broken works again. */
        FAULTS_ENDED,
        /** Something was left in the store after all had ended; the note says what. */
        LEFT
    }

    /**
     * Checks the parts.
     *
     * @param nanos when
     * @param process who; not empty
     * @param operation not negative
     * @param what what it was
     * @param lock which lock, with {@link What#ASKED}
     * @param token not negative
     * @param value what the kind of event says
     * @param note a remark
     * @throws IllegalArgumentException if a part is out of its range, or an acquisition names no lock
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
     * The event as a line of fields between single blanks. Texts are encoded, so a line has no line break.
     *
     * @return without a line end
     */
    public String line() {
        String key = lock == null ? "- - 0" : lock.kind() + " " + encoded(lock.name()) + " " + lock.permits();
        return nanos + " " + encoded(process) + " " + operation + " " + what + " " + key + " " + token + " " + value
                + " ." + encoded(note);
    }

    /**
     * Reads a line.
     *
     * @param line as {@link #line} writes it
     * @return empty when it is cut off or not of this form, as the last line of a killed process may be
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
