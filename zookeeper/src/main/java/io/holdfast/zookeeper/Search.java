package io.holdfast.zookeeper;

import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Asks Curator for the handle of its session, and to tell when it is connected. On the strand, unless noted. */
final class Search {

    /** What Curator has. */
    record Found(ZooKeeper handle, String namespace) {}

    /** Told on the strand, after each search. */
    interface Outcome {

        void found(Found found);

        void failed(Throwable error);
    }

    private final Supplier<@Nullable CuratorFramework> clients;
    private final Strand strand;
    private final Scheduler mayBlock;
    private final ConnectionStateListener listener;

    private boolean isRunning;
    private boolean isClosed;

    /** Written by the one search that runs, read when it has ended or is overtaken by the closing. */
    private volatile @Nullable CuratorFramework client;

    /**
     * Asks nothing yet.
     *
     * @param connected run on the strand
     */
    Search(Supplier<@Nullable CuratorFramework> clients, Strand strand, Scheduler mayBlock, Runnable connected) {
        this.clients = clients;
        this.strand = strand;
        this.mayBlock = mayBlock;
        listener = (changed, state) -> {
            if (state.isConnected()) {
                strand.run(connected);
            }
        };
    }

    /** Unless one is under way. Curator may open a handle, close one and wait for locks meanwhile, so this is not for the strand. */
    void begin(Outcome outcome) {
        if (isRunning || isClosed) {
            return;
        }
        isRunning = true;
        Disposable unused = Mono.fromCallable(this::find)
                .subscribeOn(mayBlock)
                .subscribe(
                        found -> strand.run(() -> ended(() -> outcome.found(found))),
                        error -> strand.run(() -> ended(() -> outcome.failed(error))));
    }

    /** Stops listening to the client. */
    void close() {
        isClosed = true;
        CuratorFramework borrowed = client;
        if (borrowed != null) {
            borrowed.getConnectionStateListenable().removeListener(listener);
        }
    }

    private void ended(Runnable tell) {
        isRunning = false;
        if (isClosed) {
            close(); // it may have begun to listen after the closing
        } else {
            tell.run();
        }
    }

    private Found find() throws Exception {
        CuratorFramework borrowed = clients.get();
        if (borrowed == null) {
            throw ZooKeeperFailures.notJoined(new Subject("", "opening a session"));
        }
        CuratorFramework before = client;
        if (before == null || !before.equals(borrowed)) {
            borrowed.getConnectionStateListenable().addListener(listener);
            client = borrowed;
        }
        return new Found(borrowed.getZookeeperClient().getZooKeeper(), borrowed.getNamespace());
    }
}
