package io.holdfast.zookeeper.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The tracker of a session that a test has found, without a server. */
class SessionTrackerTest {

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final SerialExecutor executor = new SerialExecutor(time);
    private final Events events = new Events();
    private final SessionTracker tracker = new SessionTracker(
            () -> null,
            "/locks",
            executor,
            time,
            new AsyncZooKeeper(executor, new AccessRights(null)),
            events,
            SessionValidity::found);

    /** The driver answers the requests that it has lost, and then notifies the watchers of the disconnect. */
    @Test
    void watchThatWasLostWithTheConnectionIsSetAgain() throws IOException {
        Handle handle = new Handle();
        tracker.found(new CuratorSessionSource.Found(handle, "", ""));
        assertThat(handle.watches).hasSize(1);

        handle.watches.remove(0).processResult(Code.CONNECTIONLOSS.intValue(), null, null, null);
        events.opened.watcher().process(new WatchedEvent(EventType.None, KeeperState.Disconnected, null));
        time.advanceTime();
        tracker.askTheLeader(events.opened); // the next heartbeat

        assertThat(handle.watches).hasSize(1);
    }

    /** The client may have no rights above its root. A node that does not exist is watched without any. */
    @Test
    void watchOfTheSessionNeedsNoNode() throws IOException {
        Handle handle = new Handle();
        tracker.found(new CuratorSessionSource.Found(handle, "", ""));
        assertThat(handle.watched).containsExactly("/locks/watched");

        handle.watches.remove(0).processResult(Code.NONODE.intValue(), null, null, null);
        time.advanceTime();
        tracker.askTheLeader(events.opened); // the next heartbeat

        assertThat(handle.watches).isEmpty();
        assertThat(events.reconnects).isZero();
    }

    /** Claims to be connected, and keeps the requests for the watch of the session. */
    @SuppressWarnings("try") // the driver's close may be interrupted
    private static final class Handle extends ZooKeeper {

        private final List<AsyncCallback.StatCallback> watches = new ArrayList<>();
        private final List<String> watched = new ArrayList<>();

        Handle() throws IOException {
            super("127.0.0.1:1", 3_000, event -> {}, new ZKClientConfig());
        }

        @Override
        public States getState() {
            return States.CONNECTED;
        }

        @Override
        public long getSessionId() {
            return 1;
        }

        @Override
        public int getSessionTimeout() {
            return 3_000;
        }

        @Override
        public void exists(String path, Watcher watcher, AsyncCallback.StatCallback cb, Object ctx) {
            watched.add(path);
            watches.add(cb);
        }
    }

    private static final class Events implements SessionEvents {

        private Session opened;
        private int reconnects;

        @Override
        public void opened(Session session) {
            opened = session;
        }

        @Override
        public void reconnected(Session session) {
            reconnects++;
        }

        @Override
        public void shortened(Session session) {}

        @Override
        public void continued(Session session) {}

        @Override
        public void disconnected(Session session) {}

        @Override
        public void ended(Session session) {}

        @Override
        public void ownerClosed() {}

        @Override
        public boolean checkNext(Session session) {
            return true;
        }

        @Override
        public void deleted(Session session, String path) {}

        @Override
        public void namesChanged(Session session, String path) {}

        @Override
        public void changed(Session session, String path) {}
    }
}
