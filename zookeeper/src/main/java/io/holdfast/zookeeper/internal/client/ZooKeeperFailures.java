package io.holdfast.zookeeper.internal.client;

import io.holdfast.LockBackendException;
import io.holdfast.LockException;
import io.holdfast.LockQueueFullException;
import io.holdfast.spi.support.Printable;
import io.holdfast.zookeeper.internal.session.Session;
import java.time.Duration;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** Says what failed and what to do. A failure is transient if it can pass without a change to the client's settings. */
public final class ZooKeeperFailures {

    public static final String NEWER =
            "a newer version of this library has written the lock: upgrade this client; see docs/reference/versioning.md";

    private ZooKeeperFailures() {}

    public static LockBackendException of(Subject subject, Reply<?> reply) {
        return exception(
                subject,
                advice(reply.code()) + ". ZooKeeper: " + reply.code(),
                isTransient(reply.code()),
                reply.error());
    }

    /** The topmost node is missing, so no other node can be created. */
    public static LockBackendException noChroot(Subject subject, Session session) {
        return permanent(
                subject,
                "the chroot %s of the connect string does not exist: create it, or correct the connect string"
                        .formatted(Printable.text(session.chroot())));
    }

    public static LockBackendException notConnected(Subject subject, Session session, Servers servers, Duration tried) {
        return passing(
                subject,
                "%s is not connected to %s for %d ms now; the client keeps trying. Do the servers run, and do they have a majority?"
                        .formatted(session, servers, tried.toMillis()));
    }

    public static LockBackendException noSession(Subject subject) {
        return passing(subject, "the session has ended, and the client has not opened another one yet");
    }

    /** The servers have refused the credentials before the first request of this back end. */
    public static LockBackendException notAuthenticated(Subject subject) {
        return permanent(subject, advice(Code.AUTHFAILED) + ". ZooKeeper: " + Code.AUTHFAILED);
    }

    public static LockBackendException notProven(Subject subject, Session session) {
        return passing(
                subject,
                "%s was silent for so long that a server may end it at any moment; it is proved again after a third of its time-out"
                        .formatted(session));
    }

    public static LockBackendException clientNotRunning(Subject subject, @Nullable Throwable cause) {
        return exception(
                subject,
                "the Curator client is not running: start it before you use the locks, and close it after that",
                false,
                cause);
    }

    public static LockBackendException ownerClosed(Subject subject) {
        return permanent(
                subject,
                "its owner has closed the Curator client, and with it the session of all its locks; close the locks first, and make new ones for a new client");
    }

    public static LockBackendException notOpened(Subject subject, Servers servers, Throwable cause) {
        Throwable missing = linkageError(cause);
        String text = missing == null
                ? "Curator could not open a session with %s: %s".formatted(servers, cause)
                : "Curator could not open a session, because the class path is incomplete or mixes versions: "
                        + missing;
        return exception(subject, text, missing == null, cause);
    }

    public static LockBackendException noServerYet(Subject subject, Servers servers, Duration tried) {
        return passing(
                subject,
                "no session with %s after %d ms; the client keeps trying. Do the servers run, is the address right, and do they accept this client?"
                        .formatted(servers, tried.toMillis()));
    }

    /** ZooKeeper creates its connection by reflection, and wraps the error. */
    private static @Nullable Throwable linkageError(@Nullable Throwable error) {
        Throwable cause = error;
        for (int depth = 0; cause != null && depth < 10; depth++) {
            if (cause instanceof LinkageError) {
                return cause;
            }
            cause = cause.getCause();
        }
        return null;
    }

    public static LockBackendException noClient(Subject subject) {
        return permanent(
                subject,
                "there is no Curator client yet. If it is that of a clustered Vert.x, the cluster manager has not"
                        + " joined its cluster yet: use locks after the future of buildClustered() has completed");
    }

    public static LockBackendException closed(Subject subject) {
        return permanent(subject, "the back end was closed");
    }

    public static LockBackendException vanished(Subject subject) {
        return passing(
                subject,
                "another program deleted its node while it was read; no other program may change the nodes under the root");
    }

    public static LockQueueFullException queueFull(Subject subject, QueueLimit limit) {
        String advice = limit.isOfTheBuffer()
                ? "a list of more does not fit into %d bytes: raise jute.maxbuffer on the clients and the servers, or let fewer claims wait for one lock"
                        .formatted(limit.bufferBytes())
                : "that is what maxWaiters of the back end allows";
        return new LockQueueFullException(
                subject.lockName(),
                limit.waiters(),
                "%s on ZooKeeper failed: its queue is full. A lock may have %d waiters, of all clients; %s"
                        .formatted(subject.text(), limit.waiters(), advice));
    }

    /** Whether a queue was too long to be listed. */
    public static boolean isTooLong(Throwable error) {
        return error.getCause() instanceof KeeperException refusal && refusal.code() == Code.MARSHALLINGERROR;
    }

    public static LockBackendException numbersUsedUp(Subject subject) {
        return passing(
                subject,
                "its queue has given out 2^31 numbers without a pause; it begins again as soon as all claims have left it");
    }

    public static LockException unexpected(Subject subject, Throwable error) {
        return error instanceof LockException known
                ? known
                : exception(subject, "an unexpected error:  " + error, false, error);
    }

    private static LockBackendException passing(Subject subject, String text) {
        return exception(subject, text, true, null);
    }

    private static LockBackendException permanent(Subject subject, String text) {
        return exception(subject, text, false, null);
    }

    private static LockBackendException exception(
            Subject subject, String end, boolean isTransient, @Nullable Throwable cause) {
        return new LockBackendException(
                subject.lockName(), "%s on ZooKeeper failed: %s".formatted(subject.text(), end), isTransient, cause);
    }

    private static String advice(Code code) {
        return switch (code) {
            case CONNECTIONLOSS, SESSIONMOVED, OPERATIONTIMEOUT ->
                "the connection was lost, so the outcome is unknown; the client reconnects";
            case SESSIONEXPIRED -> "the session has ended, and all its locks with it";
            case NOAUTH, INVALIDACL ->
                "the access rights forbid it: create, read, write and delete are needed under the root; see acl() of the builder";
            case AUTHFAILED -> "the client could not authenticate itself: check its credentials";
            case NOTREADONLY -> "the server has lost the other servers and only answers reads: wait";
            case UNIMPLEMENTED -> "the server is too old and may not know containers: upgrade it";
            case QUOTAEXCEEDED -> "a quota on the root is used up: raise it";
            case MARSHALLINGERROR ->
                "its queue has so many places that a list of them is longer than jute.maxbuffer allows: raise jute.maxbuffer on the clients and the servers";
            case BADVERSION -> NEWER;
            case SYSTEMERROR -> "the server or the driver has failed, so the outcome is unknown; the log may say more";
            case THROTTLEDOP, REQUESTTIMEOUT -> "the server is too busy";
            default -> "the server refused it";
        };
    }

    private static boolean isTransient(Code code) {
        return switch (code) {
            case NOAUTH, INVALIDACL, AUTHFAILED, UNIMPLEMENTED, BADARGUMENTS, BADVERSION -> false;
            default -> true;
        };
    }

    /**
     * What the back end tried, for the message.
     *
     * @param lockName the lock; empty if the request concerns no lock or several
     * @param verb what the back end tried with the lock; without a lock, the whole phrase
     */
    public record Subject(String lockName, String verb) {

        public static Subject of(String verb, String lockName) {
            return new Subject(lockName, verb);
        }

        /** Returns the beginning of the message. It is built only for a message: each lock cycle has three subjects. */
        String text() {
            return lockName.isEmpty() ? verb : "%s lock '%s'".formatted(verb, lockName);
        }
    }
}
