package io.holdfast.zookeeper.internal.client;

import static java.util.Objects.requireNonNull;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a request to ZooKeeper. Callers decide by the code, so it is a value and no exception.
 *
 * @param code the code from the server, or from the driver on its behalf
 * @param path the node of the request
 * @param body the content of the answer; null unless the request succeeded
 */
public record Reply<T>(Code code, String path, @Nullable T body) {

    public static <T> Reply<T> of(int code, String path, @Nullable T body) {
        Code known = Code.get(code);
        return new Reply<>(known == null ? Code.SYSTEMERROR : known, path, body);
    }

    public boolean isOk() {
        return code == Code.OK;
    }

    public boolean isNoNode() {
        return code == Code.NONODE;
    }

    /** Whether the node of a deletion does not exist any more. */
    public boolean isDeleted() {
        return isOk() || isNoNode();
    }

    /** Whether a queue has so many places that its list would be longer than the driver accepts. */
    public boolean isTooLong() {
        return code == Code.MARSHALLINGERROR;
    }

    /** Returns the outcome of a list with a node that a later version of this library has written. No server answers with its code. */
    public static <T> Reply<T> newer(String node) {
        return new Reply<>(Code.BADVERSION, node, null);
    }

    public boolean isNewer() {
        return code == Code.BADVERSION;
    }

    /** Whether the request surely changed nothing, or nothing that outlives its session. */
    public boolean isRefused() {
        return switch (code) {
            case OK, CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT, SESSIONMOVED, SYSTEMERROR -> false;
            default -> true;
        };
    }

    public T get() {
        return requireNonNull(body, "no body");
    }

    KeeperException error() {
        return KeeperException.create(code, path);
    }
}
