package io.holdfast.zookeeper.internal.connection;

import io.holdfast.zookeeper.internal.session.Session;

/** What happens to the current session. Told on the executor. */
public interface SessionEvents {

    /** Connected for the first time. */
    void opened(Session session);

    /** Connected again, and still the same session. */
    void reconnected(Session session);

    /** A server that it was connected to again gives it less time than those before. */
    void shortened(Session session);

    /** Still connected; from time to time. */
    void continued(Session session);

    void disconnected(Session session);

    /** Expired, or closed by its owner. */
    void ended(Session session);

    /** The owner of the client has closed it: there will not be another session. */
    void ownerClosed();

    /**
     * The leader is to be asked something. Sends a check for a claim that is about to get its lock, which proves the session, too.
     *
     * @return false when there is no such claim
     */
    boolean checkNext(Session session);

    /** The node is gone. */
    void deleted(Session session, String path);

    /** The node is another than it was. */
    void changed(Session session, String path);
}
