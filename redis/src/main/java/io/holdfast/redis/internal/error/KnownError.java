package io.holdfast.redis.internal.error;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * One kind of error: how to recognise it, whether it can pass, and the advice in the message.
 *
 * @param mark a part of its text
 * @param isTransient whether the same command may succeed later, without a change to the client's settings
 * @param advice for people
 */
public record KnownError(String mark, boolean isTransient, String advice) {

    /** The driver's message after its end. */
    public static final String CLOSED = "the back end was closed";

    /** No byte came on a connection with TLS. */
    static final KnownError SILENT_TO_TLS = new KnownError(
            "",
            true,
            "the server does not answer: check that it is up, that the network lets it through, and that the port speaks TLS; if not, begin the address with redis://");

    /** The search ends after this many errors and causes: a chain of causes may have a loop. */
    private static final int MOST_NESTED = 100;

    private static final String REPLICA =
            "the server is a replica: point the RedisURI at the master, or wait for the failover";

    private static final String UPGRADE = "the server is older than Redis 6.2, which locks need: upgrade it";
    private static final String NOT_REDIS =
            "the process at that address does not speak the Redis protocol: check host and port";
    private static final String SPEAKS_TLS = "the port speaks TLS: begin the address with rediss://";
    private static final String NO_SENTINEL =
            "the process at that address is a Redis server, not a sentinel: begin the address with redis://, or name the sentinels' port, which is 26379 by default";

    private static final String LOST = "the connection was lost; it is made anew";
    private static final String HUNG_UP =
            "the server closed the new connection at once: begin the address with rediss:// if its port speaks TLS and with redis:// if not, connect without a proxy that does not speak RESP3, or read its log";

    private static final String SILENT =
            "the server does not answer: check that it is up and that the network lets it through";

    private static final String FOREIGN =
            "a key of this lock holds a foreign value, which is left untouched: choose another key prefix or name";

    private static final String OLDER =
            "an older version of this library has written the lock: stop its clients, wait for the longest lease, and delete its keys; see docs/reference/versioning.md";

    public static final String NEWER =
            "a newer version of this library has written the lock: upgrade this client; see docs/reference/versioning.md";

    private static final String NO_RESP3 =
            "the server, or a proxy before it, does not speak RESP3, which locks need: upgrade the server, or connect without the proxy";

    private static final String PROTECTED =
            "the server is in protected mode: set a password, or bind it to an interface";

    private static final String SENTINEL = "the sentinels know no master of that name: check sentinelMasterId";
    private static final String CLUSTER = "the server is part of a cluster: use RedisLockBackend.cluster";
    private static final String CLUSTER_DOWN =
            "a slot of the cluster has no master: start the server that had it, or wait for the failover";

    /** The errors that a server may answer, by a part of the text; the first that fits counts. */
    private static final List<KnownError> ANSWERS = List.of(
            new KnownError("WRONGPASS", false, "user name or password is wrong: check the RedisURI"),
            new KnownError("invalid password", false, "the password is wrong: check the RedisURI"),
            new KnownError("NOAUTH", false, "the server requires a password: put it into the RedisURI"),
            new KnownError(
                    "without any password configured",
                    false,
                    "the server has no password: take it out of the RedisURI"),
            new KnownError("NOPERM", false, permission()),
            new KnownError("can't run this command", false, permission()),
            new KnownError("can't access at least one of the keys", false, permission()),
            new KnownError("can't publish to the channel", false, permission()),
            new KnownError("NOPROTO", false, NO_RESP3),
            new KnownError("HELLO", false, NO_RESP3),
            new KnownError("OLDER", false, OLDER),
            new KnownError("NEWER", false, NEWER),
            new KnownError("FOREIGN", false, FOREIGN),
            new KnownError("WRONGTYPE", false, FOREIGN),
            new KnownError("LOADING", true, "the server is still loading its data: wait"),
            new KnownError("BUSY", true, "a long script blocks the server: find it with SLOWLOG, or SCRIPT KILL it"),
            new KnownError(
                    "OOM", true, "the server's memory is full: raise maxmemory, and keep maxmemory-policy noeviction"),
            new KnownError("READONLY", true, REPLICA),
            new KnownError("WAIT cannot be used with replica", true, REPLICA),
            new KnownError(
                    "UNBLOCKED",
                    true,
                    "the server has become a replica: point the RedisURI at the master, or wait for the failover"),
            new KnownError("MASTERDOWN", true, "the server is a replica without its master: wait for the failover"),
            new KnownError("MISCONF", true, "the server cannot save its data and refuses writes: read its log"),
            new KnownError("NOREPLICAS", true, "the server has too few good replicas and refuses writes: check them"),
            new KnownError("CLUSTERDOWN", true, CLUSTER_DOWN),
            new KnownError("TRYAGAIN", true, "the cluster is moving the lock's slot to another server: wait"),
            new KnownError("MOVED ", false, CLUSTER),
            new KnownError("ASK ", false, CLUSTER),
            new KnownError("max number of clients", true, "the server has no connection left: raise maxclients"),
            new KnownError("DENIED", false, PROTECTED),
            new KnownError("syntax error", false, UPGRADE),
            new KnownError("nknown command `SENTINEL`", false, NO_SENTINEL),
            new KnownError("nknown command 'SENTINEL'", false, NO_SENTINEL),
            new KnownError("nknown command", false, UPGRADE),
            new KnownError("nknown Redis command", false, UPGRADE),
            new KnownError("non deterministic", false, UPGRADE));

    /**
     * A former master that copies the data of the new one is loading, or without its master, before it is read-only.
     */
    private static final List<String> NO_MASTER =
            List.of("READONLY ", "MASTERDOWN ", "LOADING ", "UNBLOCKED ", "WAIT cannot be used with replica");

    private static final List<String> LONELY = List.of("NOREPLICAS ", "CLUSTERDOWN ");

    /** The errors of the driver itself, by a part of class name and text. */
    private static final List<KnownError> DRIVER = List.of(
            new KnownError("DENIED", false, PROTECTED),
            new KnownError(CLOSED, false, CLOSED),
            new KnownError("redirected too often", true, "the cluster has not settled where the lock's slot is: wait"),
            new KnownError("CLUSTERDOWN", true, CLUSTER_DOWN),
            new KnownError("Cannot provide redisAddress", false, SENTINEL),
            new KnownError(
                    "Cannot connect to a Redis Sentinel", true, "no sentinel can be reached: check their addresses"),
            new KnownError("Invalid first byte: 21", false, SPEAKS_TLS),
            new KnownError("RedisProtocolException", false, NOT_REDIS),
            new KnownError("DecoderException", false, NOT_REDIS),
            new KnownError("UnsupportedOperationException", false, NOT_REDIS),
            new KnownError("UnknownHostException", true, "the host name is not known: check it, and the DNS"),
            new KnownError(
                    "Connection refused", true, "nothing listens there: start the server, or check host and port"),
            new KnownError(
                    "unexpected reply",
                    true,
                    "the process at that address sends replies that no Redis server sends: check host and port, and any proxy in between"),
            new KnownError("rejected", true, "the connection is lost and is being made anew"),
            new KnownError("Connection reset", true, LOST),
            new KnownError("disconnected", true, LOST),
            new KnownError("closed prematurely", true, HUNG_UP),
            // The driver says this if the connection was closed before the driver had handled it.
            new KnownError("RedisHandshakeHandler not registered", true, HUNG_UP),
            new KnownError("closed", true, LOST),
            new KnownError("timed out", true, SILENT));

    /** An error that was recognised, and its kind. */
    record Found(Throwable error, KnownError known) {}

    /** Whether no answer came within a time limit: of a command, or of the handshake before the first one. */
    boolean isSilence() {
        return advice.equals(SILENT);
    }

    /** Whether the error is an answer, of the server or of a proxy before it. */
    public static boolean isAnswer(Throwable error) {
        return error instanceof RedisCommandExecutionException;
    }

    /** Whether a server has refused the command, so that it is over. A proxy may answer another error while the command is under way. */
    public static boolean isRefusal(Throwable error) {
        String text = String.valueOf(error.getMessage());
        return isAnswer(error) && ANSWERS.stream().anyMatch(known -> text.contains(known.mark()));
    }

    /** Whether the server forbids this to the user. */
    public static boolean isForbidden(Throwable error) {
        return find(error).known().advice().equals(permission());
    }

    /**
     * Whether the server says that it takes no writes: it is not the master any more, or not yet. Scripts fail in the
     * same way: with {@code READONLY …}, or {@code ERR Error running script … -READONLY …}, by version.
     */
    public static boolean isDemoted(Throwable error) {
        return isAnswer(error) && isFromNoMaster(String.valueOf(error.getMessage()));
    }

    /** Whether an answer shows that the server is not a master, or not yet. */
    public static boolean isFromNoMaster(String answer) {
        return NO_MASTER.stream().anyMatch(answer::contains);
    }

    /** Whether several servers behind a proxy answer, and a call had keys of more than one of them. */
    public static boolean isOfSeveralServers(Throwable error) {
        return isAnswer(error) && String.valueOf(error.getMessage()).contains("CROSSSLOT");
    }

    /** Whether the slot of the keys is moving to another master, and some of them may be there. */
    public static boolean isOfMovingSlot(Throwable error) {
        return isAnswer(error) && String.valueOf(error.getMessage()).startsWith("TRYAGAIN");
    }

    /** Whether the user has no right to one of the keys of a call. The server says so before it runs a script. */
    public static boolean isForbiddenKey(Throwable error) {
        String text = String.valueOf(error.getMessage());
        return isAnswer(error) && text.startsWith("NOPERM") && text.contains("key");
    }

    /** Whether the server says that it has lost the other servers, which may have another master by now. */
    public static boolean isCutOff(Throwable error) {
        return isAnswer(error) && LONELY.stream().anyMatch(String.valueOf(error.getMessage())::contains);
    }

    /**
     * Finds the kind of an error, by the error itself or by one of its causes. The driver suppresses an answer of the
     * sentinels in favour of a time limit that was not reached.
     */
    static Found find(Throwable error) {
        Found found = findInCauses(error);
        String advice = found.known().advice();
        if (advice.equals(LOST) && isOfANewConnection(error)) {
            return new Found(found.error(), new KnownError("", true, HUNG_UP));
        }
        if (advice.equals(UPGRADE) && isOfANewConnection(error)) {
            return new Found(found.error(), new KnownError("", false, NO_RESP3)); // the first command is HELLO
        }
        Throwable answer = found.known().isSilence() ? suppressedAnswer(error) : null;
        return answer == null ? found : findInCauses(answer);
    }

    private static boolean isOfANewConnection(Throwable error) {
        for (Throwable e = error; e != null; e = e.getCause()) {
            if (e instanceof RedisConnectionException
                    && String.valueOf(e.getMessage()).startsWith("Unable to connect")) {
                return true;
            }
        }
        return false;
    }

    private static Found findInCauses(Throwable error) {
        for (Throwable e = error; e != null; e = e.getCause()) {
            if (e instanceof SSLException) {
                return new Found(
                        e,
                        new KnownError("", false, "TLS failed: check the certificate, and that the port speaks TLS"));
            }
        }
        for (Throwable e = error; e != null; e = e.getCause()) {
            String text = e.toString();
            for (KnownError known : isAnswer(e) ? ANSWERS : DRIVER) {
                if (text.contains(known.mark())) {
                    return new Found(e, known);
                }
            }
            if (isAnswer(e)) {
                return new Found(e, new KnownError("", false, "the server refused the command"));
            }
        }
        return new Found(error, new KnownError("", true, "the request to the server failed"));
    }

    private static @Nullable Throwable suppressedAnswer(Throwable error) {
        Deque<Throwable> open = new ArrayDeque<>(List.of(error));
        for (int i = 0; i < MOST_NESTED && !open.isEmpty(); i++) {
            Throwable next = open.remove();
            if (isAnswer(next)) {
                return next;
            }
            open.addAll(List.of(next.getSuppressed()));
            if (next.getCause() != null) {
                open.add(next.getCause());
            }
        }
        return null;
    }

    private static String permission() {
        return "the ACL forbids it: allow keys ~<prefix>*, channels &<prefix>* and the commands in the Javadoc of RedisLockBackend, or RedisLockInspector";
    }
}
