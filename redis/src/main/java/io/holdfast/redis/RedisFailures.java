package io.holdfast.redis;

import io.holdfast.LockBackendException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;

/**
 * Turns the driver's errors into ours: what failed, at which server, and what to do. Transient are those that can pass
 * without a change to the client's settings.
 *
 * @param server host and port, or the socket; never a password
 */
record RedisFailures(String server) {

    private static final String UPGRADE = "the server is older than Redis 6.2, which locks need: upgrade it";
    private static final String NOT_REDIS = "what answers there does not speak the Redis protocol: check host and port";
    private static final String FOREIGN =
            "there is something else under a key of this lock, which is left untouched: choose another key prefix or name";

    private static final String NO_RESP3 =
            "lossByPush needs RESP3, which the server or a proxy before it does not speak: do without lossByPush, or upgrade";

    private static final String PROTECTED =
            "the server is in protected mode: set a password, or bind it to an interface";

    private static final String SENTINEL = "the sentinels know no master of that name: check sentinelMasterId";
    private static final String CLUSTER = "the server is part of a cluster: use RedisLockBackend.cluster";
    private static final String CLUSTER_DOWN =
            "a slot of the cluster has no master: start the server that had it, or wait for the failover";

    /** One kind of error: how it is known, whether it can pass, what to tell. */
    private record Known(String mark, boolean isTransient, String advice) {}

    /** What a server may answer, by a part of its text; the first that fits. */
    private static final List<Known> ANSWERS = List.of(
            new Known("WRONGPASS", false, "user name or password is wrong: check the RedisURI"),
            new Known("invalid password", false, "the password is wrong: check the RedisURI"),
            new Known("NOAUTH", false, "the server wants a password: put it into the RedisURI"),
            new Known(
                    "without any password configured",
                    false,
                    "the server has no password: take it out of the RedisURI"),
            new Known("NOPERM", false, permission()),
            new Known("can't run this command", false, permission()),
            new Known("can't access at least one of the keys", false, permission()),
            new Known("NOPROTO", false, NO_RESP3),
            new Known("HELLO", false, NO_RESP3),
            new Known("FOREIGN", false, FOREIGN),
            new Known("WRONGTYPE", false, FOREIGN),
            new Known("LOADING", true, "the server is still loading its data: wait"),
            new Known("BUSY", true, "a long script blocks the server: find it with SLOWLOG, or SCRIPT KILL it"),
            new Known(
                    "OOM", true, "the server's memory is full: raise maxmemory, and keep maxmemory-policy noeviction"),
            new Known(
                    "READONLY",
                    true,
                    "the server is a replica: point the RedisURI at the master, or wait for the failover"),
            new Known(
                    "WAIT cannot be used with replica",
                    true,
                    "the server is a replica: point the RedisURI at the master, or wait for the failover"),
            new Known("MASTERDOWN", true, "the server is a replica without its master: wait for the failover"),
            new Known("MISCONF", true, "the server cannot save its data and refuses writes: look into its log"),
            new Known("NOREPLICAS", true, "the server has too few good replicas and refuses writes: look after them"),
            new Known("CLUSTERDOWN", true, CLUSTER_DOWN),
            new Known("TRYAGAIN", true, "the cluster is moving the lock's slot to another server: wait"),
            new Known("MOVED ", false, CLUSTER),
            new Known("ASK ", false, CLUSTER),
            new Known("max number of clients", true, "the server has no connection left: raise maxclients"),
            new Known("DENIED", false, PROTECTED),
            new Known("syntax error", false, UPGRADE),
            new Known("nknown command", false, UPGRADE),
            new Known("nknown Redis command", false, UPGRADE),
            new Known("non deterministic", false, UPGRADE));

    /** What the driver may say for itself, by a part of class name and text. */
    private static final List<Known> DRIVER = List.of(
            new Known("DENIED", false, PROTECTED),
            new Known("redirected too often", true, "the cluster has not settled where the lock's slot is: wait"),
            new Known("CLUSTERDOWN", true, CLUSTER_DOWN),
            new Known("Cannot provide redisAddress", false, SENTINEL),
            new Known("Cannot connect to a Redis Sentinel", true, "no sentinel can be reached: check their addresses"),
            new Known("RedisProtocolException", false, NOT_REDIS),
            new Known("DecoderException", false, NOT_REDIS),
            new Known("UnsupportedOperationException", false, NOT_REDIS),
            new Known("UnknownHostException", true, "the host name is not known: check it, and the DNS"),
            new Known("Connection refused", true, "nothing listens there: start the server, or check host and port"),
            new Known("rejected", true, "the connection is lost and is being made anew"),
            new Known("Connection reset", true, "the connection was lost; it is made anew"),
            new Known("disconnected", true, "the connection was lost; it is made anew"),
            new Known("closed", true, "the connection was lost; it is made anew"),
            new Known(
                    "timed out",
                    true,
                    "the server does not answer: check that it is up and that the network lets it through"));

    /** By one address, or those of several servers of a cluster. */
    static RedisFailures at(List<RedisURI> uris) {
        return new RedisFailures(uris.stream().map(RedisFailures::text).collect(Collectors.joining(", ")));
    }

    private static String text(RedisURI uri) {
        if (uri.getSentinels().isEmpty()) {
            return uri.getSocket() != null ? uri.getSocket() : uri.getHost() + ":" + uri.getPort();
        }
        return uri.getSentinels().stream()
                .map(RedisFailures::text)
                .collect(Collectors.joining(
                        ", ", "master '" + uri.getSentinelMasterId() + "' of the sentinels at ", ""));
    }

    /** The exception for a failed try. */
    LockBackendException of(Subject subject, Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        Known known = classify(cause);
        String message = "%s on Redis at %s failed: %s. Driver: %s"
                .formatted(subject.text(), server, known.advice(), root(cause).getMessage());
        return new LockBackendException(subject.lockName(), message, known.isTransient(), cause);
    }

    /** The exception for a grant that the master made, and too few replicas have. */
    LockBackendException tooFewReplicas(Subject subject, long confirmed, ReplicaConfirmation wanted) {
        String message =
                "%s on Redis at %s failed: %d of %d replicas confirmed it within %d ms: look after the replicas (INFO replication), or change confirmGrants"
                        .formatted(
                                subject.text(),
                                server,
                                confirmed,
                                wanted.replicas(),
                                wanted.within().toMillis());
        return new LockBackendException(subject.lockName(), message, true, null);
    }

    LockBackendException closed(Subject subject) {
        String message = "%s on Redis at %s failed: the back end was closed".formatted(subject.text(), server);
        return new LockBackendException(subject.lockName(), message, false, null);
    }

    /** Whether the server said so itself: then the outcome is known. */
    static boolean isAnswer(Throwable error) {
        return error instanceof RedisCommandExecutionException;
    }

    /** Whether the server does not let this user do that. */
    static boolean isForbidden(Throwable error) {
        return classify(error).advice().equals(permission());
    }

    /** Whether the driver refused to send the command at all. */
    static boolean isUnsent(Throwable error) {
        return String.valueOf(error.getMessage()).contains("rejected");
    }

    private static Known classify(Throwable error) {
        for (Throwable e = error; e != null; e = e.getCause()) {
            if (e instanceof SSLException) {
                return new Known("", false, "TLS failed: check the certificate, and that the port speaks TLS");
            }
            for (Known known : isAnswer(e) ? ANSWERS : DRIVER) {
                if (e.toString().contains(known.mark())) {
                    return known;
                }
            }
            if (isAnswer(e)) {
                return new Known("", false, "the server refused the command");
            }
        }
        return new Known("", true, "the server could not be asked");
    }

    private static Throwable root(Throwable error) {
        Throwable e = error;
        while (e.getCause() != null && e.getCause() != e) {
            e = e.getCause();
        }
        return e;
    }

    private static String permission() {
        return "the ACL forbids it: allow keys ~<prefix>*, channels &<prefix>* and the commands in the Javadoc of RedisLockBackend, or RedisLockInspector";
    }

    /**
     * What was tried, for the message.
     *
     * @param lockName the lock; empty when it concerns none or several
     * @param text the beginning of a sentence
     */
    record Subject(String lockName, String text) {

        static Subject of(String verb, LockKeys keys) {
            String name = keys.lockName();
            return new Subject(name, "%s lock '%s' (key '%s')".formatted(verb, name, keys.holder()));
        }
    }
}
