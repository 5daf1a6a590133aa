package io.holdfast.zookeeper.internal.claim;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/** Nodes of sessions that have ended. The server deletes them when it notices the end; the back end tries to delete them sooner. */
final class LeftoverNodes {

    private final List<String> paths = new ArrayList<>();
    private final AsyncZooKeeper zooKeeper;

    LeftoverNodes(AsyncZooKeeper zooKeeper) {
        this.zooKeeper = zooKeeper;
    }

    /** Adds a node, and deletes it now if there is a session. If not, the next {@link #delete} deletes it. */
    void delete(String path, @Nullable Session session) {
        paths.add(path);
        if (session != null) {
            delete(session);
        }
    }

    /** Tries to delete each node once. If that fails, the server deletes it when it ends the session. */
    void delete(Session session) {
        for (String path : paths) {
            Disposable unused = zooKeeper
                    .delete(session, path)
                    .subscribe(reply -> LOG.debug("deletion of a node of an ended session: {}", reply));
        }
        paths.clear();
    }
}
