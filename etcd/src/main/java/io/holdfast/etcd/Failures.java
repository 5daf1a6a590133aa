package io.holdfast.etcd;

import io.etcd.jetcd.common.exception.ClosedClientException;
import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;
import io.holdfast.LockBackendException;
import io.holdfast.LockException;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.support.Printable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;

/** The failures of requests, in the words of Holdfast. */
final class Failures {

    /** What was tried, on which lock. */
    record Subject(String verb, String name, String what) {
        static Subject of(String verb, LockKey key) {
            return new Subject(
                    verb,
                    key.name(),
                    "%s lock '%s'"
                            .formatted(
                                    key.kind().name().toLowerCase(java.util.Locale.ROOT), Printable.text(key.name())));
        }

        static Subject ofStore(String verb) {
            return new Subject(verb, "", "etcd");
        }
    }

    private Failures() {}

    static Throwable of(Subject subject, Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof LockException || cause instanceof IllegalArgumentException) {
            return cause;
        }
        return new LockBackendException(
                subject.name(),
                "could not %s %s in etcd: %s. %s".formatted(subject.verb(), subject.what(), said(cause), advice(cause)),
                isTransient(cause),
                cause);
    }

    static LockBackendException closed(Subject subject) {
        return new LockBackendException(
                subject.name(),
                "could not %s %s: this back end for etcd is closed".formatted(subject.verb(), subject.what()),
                false,
                null);
    }

    private static String said(Throwable cause) {
        if (cause instanceof TimeoutException) {
            return "it gave no answer in time";
        }
        if (isClosed(cause)) {
            return "the client of jetcd is closed";
        }
        String text = cause.getMessage();
        Throwable below = cause.getCause();
        if (below != null && code(cause).name().equals(text)) {
            return said(below); // the driver could not log in
        }
        return text == null
                ? cause.getClass().getSimpleName()
                : Printable.text(text.lines().findFirst().orElse(""));
    }

    /** The code of gRPC: the driver passes on some of its errors as they are. */
    static Status.Code code(Throwable error) {
        return error instanceof EtcdException it
                ? Status.Code.valueOf(it.getErrorCode().name())
                : Status.fromThrowable(error).getCode();
    }

    /** Whether etcd has refused a request, and so has not changed anything. */
    static boolean isRefusal(Throwable error) {
        return switch (code(error)) {
            case NOT_FOUND, INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED, FAILED_PRECONDITION, OUT_OF_RANGE ->
                true;
            default -> false;
        };
    }

    /** Whether an answer was too large, or the database is full. etcd may have changed something all the same. */
    static boolean isTooMuch(Throwable error) {
        return code(error) == Status.Code.RESOURCE_EXHAUSTED;
    }

    private static boolean isTransient(Throwable cause) {
        if (cause instanceof IllegalStateException || cause instanceof OtherFormException || isClosed(cause)) {
            return false;
        }
        return switch (code(cause)) {
            case PERMISSION_DENIED, UNAUTHENTICATED, UNIMPLEMENTED, INVALID_ARGUMENT -> false;
            default -> true;
        };
    }

    /** Whether the owner of the driver's client has closed it. */
    private static boolean isClosed(Throwable cause) {
        return cause instanceof RejectedExecutionException || cause instanceof ClosedClientException;
    }

    private static String advice(Throwable cause) {
        if (cause instanceof OtherFormException other) {
            return other.advice();
        }
        if (cause instanceof TimeoutException) {
            return "Are its members reachable, and have they a leader?";
        }
        return switch (code(cause)) {
            case UNAUTHENTICATED -> "Does etcd know the user of the client, with this password?";
            case PERMISSION_DENIED ->
                "The user of the client needs the right to read and write all keys under the prefix of the locks";
            case RESOURCE_EXHAUSTED ->
                "If its database is full: compact and defragment it, then run 'etcdctl alarm disarm'";
            default -> "Is the client of jetcd open, are its members reachable, and have they a leader?";
        };
    }
}
