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

    /** One more, which is deleted with the next {@link #delete}. */
    void add(String path) {
        paths.add(path);
    }

    /** One more, which is deleted now if there is a session. */
    void delete(String path, @Nullable Session session) {
        paths.add(path);
        if (session != null) {
            delete(session);
        }
    }

    /** One try each: the server ends what is left of a session by itself. */
    void delete(Session session) {
        for (String path : paths) {
            Disposable unused = zooKeeper.delete(session, path).subscribe(reply -> LOG.debug("left over: {}", reply));
        }
        paths.clear();
    }
}
