package io.holdfast.zookeeper.internal.connection;

import io.holdfast.zookeeper.internal.session.Session;

/** Receives the events of the current session. Called on the executor. */
public interface SessionEvents {

    /** The session is connected for the first time. */
    void opened(Session session);

    /** The connection is back, and the session is still the same. */
    void reconnected(Session session);

    /** After a reconnect, the session has a shorter time-out than before. */
    void shortened(Session session);

    /** The session is still connected; called from time to time. */
    void continued(Session session);

    void disconnected(Session session);

    /** The session has expired, or its owner has closed it. */
    void ended(Session session);

    /** The owner of the client has closed it: there will be no other session. */
    void ownerClosed();

    /**
     * Sends the leader a check for a claim that is next in line. The check also proves the session.
     *
     * @return false if there is no such claim
     */
    boolean checkNext(Session session);

    /** The node was deleted. */
    void deleted(Session session, String path);

    /** Nodes were created or deleted in the queue. */
    void namesChanged(Session session, String path);

    /** The data of the node has changed. */
    void changed(Session session, String path);
}
