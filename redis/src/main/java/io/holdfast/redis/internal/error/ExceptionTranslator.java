package io.holdfast.redis.internal.error;

import io.holdfast.LockBackendException;
import io.holdfast.spi.support.Printable;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns the driver's errors into exceptions of this library: what failed, at which server, and what to do. An error is
 * transient if it can pass without a change to the client's settings.
 *
 * @param server host and port, or the socket; never a password
 * @param isTls whether connections are with TLS
 */
public record ExceptionTranslator(String server, boolean isTls) {

    /** How much of a text of the driver or the server a message repeats: that text may be anything. */
    private static final int MOST_CHARS = 300;

    /** A server repeats what it does not understand. In a handshake that is the password. */
    private static final String REPEATED = ", with args beginning with";

    private static final int MOST_NESTED = 10;

    /** A host name of the DNS has no more characters. */
    private static final int LONGEST_HOST = 255;

    /** Makes a translator for one address, or for several servers of a cluster. */
    public static ExceptionTranslator at(List<RedisURI> uris) {
        return new ExceptionTranslator(
                uris.stream().map(ExceptionTranslator::text).collect(Collectors.joining(", ")),
                uris.stream().anyMatch(RedisURI::isSsl));
    }

    private static String text(RedisURI uri) {
        if (uri.getSentinels().isEmpty()) {
            // In a cluster, the host that another server reports.
            String place = uri.getSocket() != null ? uri.getSocket() : String.valueOf(uri.getHost());
            return Printable.start(place, LONGEST_HOST) + (uri.getSocket() != null ? "" : ":" + uri.getPort());
        }
        return uri.getSentinels().stream()
                .map(ExceptionTranslator::text)
                .collect(Collectors.joining(
                        ", ", "master '" + uri.getSentinelMasterId() + "' of the sentinels at ", ""));
    }

    /** Returns the exception for a failed operation that may be under way still. */
    public LockBackendException of(Subject subject, Throwable error) {
        return of(subject, error, true);
    }

    /**
     * Returns the exception for a failed operation. If the connection was lost, and the last attempt to make it anew
     * failed, that failure counts. It is transient: an operator may change it back.
     *
     * @param isUnderWay whether it may still reach the server, see {@link LockBackendException#isUnderWay}
     */
    public LockBackendException of(Subject subject, Throwable error, boolean isUnderWay) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        Throwable why = isUnsent(cause) ? cause.getCause() : null;
        KnownError.Found found = KnownError.find(why == null ? cause : why);
        boolean isSilentToTls = why == null && isTls && found.known().isSilence();
        KnownError known = isSilentToTls ? KnownError.SILENT_TO_TLS : found.known();
        String message = "%s on Redis at %s failed: %s%s. Driver: %s"
                .formatted(
                        subject.text(),
                        server,
                        why == null ? "" : "the connection is lost and cannot be made anew: ",
                        known.advice(),
                        messageOf(root(found.error())));
        boolean isTransient = why != null || known.isTransient();
        Throwable shown = withoutArguments(cause);
        return isUnderWay
                ? new LockBackendException(subject.lockName(), message, isTransient, shown)
                : LockBackendException.notUnderWay(subject.lockName(), message, isTransient, shown);
    }

    /** Returns the message of an error, shortened, without arguments that a server repeats. */
    public static String messageOf(Throwable error) {
        String text = String.valueOf(error.getMessage());
        int repeated = text.indexOf(REPEATED);
        return Printable.start(repeated < 0 ? text : text.substring(0, repeated), MOST_CHARS);
    }

    /** Returns the error, or another one in place of an error that repeats arguments. */
    private static Throwable withoutArguments(Throwable error) {
        if (!repeatsArguments(error, 0)) {
            return error;
        }
        RedisException instead = new RedisException(messageOf(root(error)));
        instead.setStackTrace(error.getStackTrace());
        return instead;
    }

    private static boolean repeatsArguments(@Nullable Throwable error, int depth) {
        return error != null
                && depth < MOST_NESTED
                && (String.valueOf(error.getMessage()).contains(REPEATED)
                        || repeatsArguments(error.getCause(), depth + 1)
                        || Stream.of(error.getSuppressed()).anyMatch(it -> repeatsArguments(it, depth + 1)));
    }

    private static Throwable root(Throwable error) {
        Throwable e = error;
        while (e.getCause() != null && e.getCause() != e) {
            e = e.getCause();
        }
        return e;
    }

    /** Returns the exception for a grant of the master that too few replicas have. */
    public LockBackendException tooFewReplicas(Subject subject, long confirmed, int wanted, Duration within) {
        String message =
                "%s on Redis at %s failed: %d of %d replicas confirmed it within %d ms: check the replicas (INFO replication), or change confirmGrants"
                        .formatted(subject.text(), server, confirmed, wanted, within.toMillis());
        return new LockBackendException(subject.lockName(), message, true, null);
    }

    /** Returns the exception for an attempt that was not sent, since the server was started too recently. */
    public LockBackendException inQuarantine(Subject subject, Duration upFor, Duration quarantine, Duration rest) {
        String message =
                "%s on Redis at %s is refused by the quarantine: the server has been up for %s s and may have forgotten locks that are still held, so it grants nothing in its first %s s; wait %s s, or use acquire(), which waits"
                        .formatted(subject.text(), server, seconds(upFor), seconds(quarantine), seconds(rest));
        return LockBackendException.notYet(subject.lockName(), message, rest);
    }

    private static String seconds(Duration time) {
        return BigDecimal.valueOf(time.toMillis(), 3).stripTrailingZeros().toPlainString();
    }

    public LockBackendException closed(Subject subject) {
        String message = "%s on Redis at %s failed: %s".formatted(subject.text(), server, KnownError.CLOSED);
        return new LockBackendException(subject.lockName(), message, false, null);
    }

    /**
     * Whether the driver refused to send the command at all. It has no type for that. A text of the server is no such
     * refusal, whatever it says.
     */
    public static boolean isUnsent(Throwable error) {
        return error instanceof RedisException
                && !KnownError.isAnswer(error)
                && String.valueOf(error.getMessage()).contains("rejected");
    }

    /**
     * What was tried, for the message.
     *
     * @param lockName the lock; empty if it concerns none or several
     * @param text the beginning of a sentence
     */
    public record Subject(String lockName, String text) {}
}
