package io.holdfast.zookeeper.internal.session;

import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.ZooKeeper.States;

/**
 * One session with the ensemble, on ZooKeeper's own client. Such a handle has only one session, so the id never changes.
 *
 * @param handle the borrowed client of ZooKeeper, never closed here
 * @param id the session's id; never 0, since it has been connected
 * @param chroot the path in the connect string of the client, under which the server sees all paths of this session; empty without one
 * @param root the node under which all locks are, with the namespace in front
 * @param watcher the watcher of all its watches. The driver keeps one for each path, and notifies it once of each change of the session
 *     itself
 * @param validity what the answers have proved so far; on the executor only
 */
public record Session(
        ZooKeeper handle, long id, String chroot, String root, Watcher watcher, SessionValidity validity) {

    /** The topmost node of the session. It is missing if the server does not have the chroot. */
    public static final String TOP = "/";

    /**
     * Returns the node that is watched as long as the session lasts, so that its watcher receives the events of the session itself. It never
     * exists: the watch of such a node needs no rights, and no change uses it up.
     */
    public String watched() {
        return root + "/watched";
    }

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
