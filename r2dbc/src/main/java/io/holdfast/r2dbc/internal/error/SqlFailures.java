package io.holdfast.r2dbc.internal.error;

import io.holdfast.LockBackendException;
import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.KnownError;
import io.holdfast.spi.support.Printable;
import io.r2dbc.spi.R2dbcException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Turns errors of the driver into errors of this library, which say what was tried and what to do. Each error means that the outcome is
 * unknown.
 *
 * @param dialect knows the codes of its database
 * @param address the address of the server, for messages; null if it is not known
 * @param replyTimeout the longest time of a call
 */
public record SqlFailures(Dialect dialect, @Nullable String address, Duration replyTimeout) {

    /** The most characters of a message of a driver or a server that are repeated. It may contain any text. */
    private static final int MOST_CHARS = 300;

    private static final int MOST_NESTED = 20;

    /** The SQL standard's class of codes for a rollback. */
    private static final String ROLLED_BACK = "40";

    private static final String UNKNOWN_COMPLETION = "40003";

    /** The code of PostgreSQL for a row that stays locked. */
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    /** The same of MariaDB and MySQL. */
    private static final int LOCK_WAIT_TIMEOUT = 1205;

    private static final KnownError SILENT = new KnownError(
            true,
            false,
            "the server did not answer: check that it is up, that the network lets it through, and how long its disk takes to flush; the client reconnects");

    private static final KnownError REFUSED =
            new KnownError(true, false, "nothing listens there: start the server, or check host and port");

    private static final KnownError UNKNOWN_HOST =
            new KnownError(true, false, "the host name is not known: check it, and the DNS");

    private static final KnownError OTHER =
            new KnownError(true, false, "the driver reported an error that this library does not know");

    /** Whether the connection can be used after this. */
    public boolean keepsConnection(Throwable error) {
        return explain(error).keepsConnection();
    }

    /** Whether this is an answer of the server. If the server has also ended the connection, the driver knows. */
    public boolean isAnswer(Throwable error) {
        String state = error instanceof R2dbcException answered ? answered.getSqlState() : null;
        return state != null && !state.startsWith("08");
    }

    /** Whether the server has undone the call because another transaction has locked its row. */
    public boolean isRowLocked(Throwable error) {
        return error instanceof R2dbcException answered
                && (LOCK_NOT_AVAILABLE.equals(answered.getSqlState()) || answered.getErrorCode() == LOCK_WAIT_TIMEOUT);
    }

    /** Whether the server has undone the call because of a conflict with another transaction, such as a deadlock. Then nothing was changed. */
    public boolean isUndone(Throwable error) {
        String state = error instanceof R2dbcException answered ? answered.getSqlState() : null;
        return state != null && state.startsWith(ROLLED_BACK) && !state.equals(UNKNOWN_COMPLETION);
    }

    /** Whether the server has refused the call but may carry out a part of it. An error behind the commit looks the same. */
    public boolean isRefused(Throwable error) {
        KnownError known = explain(error);
        return known.isTransient() && known.keepsConnection();
    }

    /** Whether the server did not answer in time. It may still be at work. */
    public boolean isSilence(Throwable error) {
        return explain(error).equals(SILENT);
    }

    /** Returns the exception for one claim. */
    public LockBackendException of(String lockName, String subject, Throwable error) {
        if (error instanceof LockBackendException known) {
            return known;
        }
        KnownError known = explain(error);
        String message = "%s in %s failed%s: %s"
                .formatted(
                        subject,
                        server(),
                        known.equals(SILENT) ? " after %d ms".formatted(waitedMillis(error)) : "",
                        described(error));
        return new LockBackendException(lockName, message, known.isTransient(), error);
    }

    /** Returns what the error means, and what the driver says. */
    public String described(Throwable error) {
        return "%s. Driver: %s"
                .formatted(explain(error).advice(), Printable.start(String.valueOf(error.getMessage()), MOST_CHARS));
    }

    private String server() {
        return address == null ? dialect.database() : dialect.database() + " at " + address;
    }

    private long waitedMillis(Throwable error) {
        return error instanceof NoAnswerException known ? known.millis() : replyTimeout.toMillis();
    }

    /** Returns the exception for a call after the back end was closed. */
    public LockBackendException closed(String lockName, String subject) {
        String message = "%s in %s failed: the back end was closed; create a new one".formatted(subject, server());
        return new LockBackendException(lockName, message, false, null);
    }

    /** Errors of the network count first, because drivers give them codes of their own. */
    private KnownError explain(Throwable error) {
        KnownError known = OTHER;
        Throwable e = error;
        for (int i = 0; i < MOST_NESTED && e != null; i++) {
            if (e instanceof TimeoutException) {
                return SILENT;
            } else if (e instanceof UnknownHostException) {
                return UNKNOWN_HOST;
            } else if (e instanceof ConnectException) {
                return REFUSED;
            }
            known = known.equals(OTHER) ? dialect.explain(e).orElse(OTHER) : known;
            e = e.getCause();
        }
        return known;
    }
}
