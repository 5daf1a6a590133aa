package io.holdfast.zookeeper.internal.session;

import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.ZooKeeper.States;

/**
 * One session with the ensemble, on the raw handle. A handle has one session in its life, so the number never changes.
 *
 * @param handle borrowed, never closed here
 * @param id never 0: it has been connected
 * @param root the node under which all locks are, with the namespace in front
 * @param watcher of all its watches: the driver keeps one for each path, and tells it of the session's own changes once
 * @param validity what its answers have proved so far; on the executor only
 */
public record Session(ZooKeeper handle, long id, String root, Watcher watcher, SessionValidity validity) {

    /** Watched as long as the session lasts, so that its watcher hears of the session itself. No client changes the data of this node. */
    public static final String WATCHED_NODE = "/";

    public boolean isConnected() {
        return handle.getState() == States.CONNECTED;
    }

    public boolean isAlive() {
        return handle.getState().isAlive();
    }

    public boolean is(Session other) {
        return id == other.id;
    }

    @Override
    public String toString() {
        return "session 0x" + Long.toHexString(id);
    }
}
