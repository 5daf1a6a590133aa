package io.holdfast.zookeeper.internal.connection;

import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.function.BiConsumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/** The watcher of one session and of all its nodes. On ZooKeeper's event thread it only hands the event over to the executor. */
final class SessionWatcher implements Watcher {

    private final SerialExecutor executor;
    private final BiConsumer<Session, WatchedEvent> listener;

    /** Written once, before the driver knows this watcher. */
    private @Nullable Session session;

    /**
     * Watches nothing yet.
     *
     * @param listener called on the executor
     */
    SessionWatcher(SerialExecutor executor, BiConsumer<Session, WatchedEvent> listener) {
        this.executor = executor;
        this.listener = listener;
    }

    void watches(Session opened) {
        session = opened;
    }

    @Override
    public void process(WatchedEvent event) {
        Session watched = session;
        if (watched != null) {
            executor.run(() -> listener.accept(watched, event));
        }
    }
}
