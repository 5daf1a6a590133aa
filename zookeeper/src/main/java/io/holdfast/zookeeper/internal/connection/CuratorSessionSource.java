package io.holdfast.zookeeper.internal.connection;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.Servers;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Gets the handle of the session from Curator, and listens for connects and for the closing of the client. On the executor, unless noted. */
final class CuratorSessionSource {

    /** The handle, the chroot and the namespace of the Curator client. */
    record Found(ZooKeeper handle, String chroot, String namespace) {}

    private final Supplier<? extends @Nullable CuratorFramework> clients;
    private final SerialExecutor executor;
    private final Scheduler mayBlock;
    private final ConnectionStateListener listener;
    private final CuratorListener closing;

    private boolean isRunning;
    private boolean isClosed;

    /** Written by the only search that runs. Read after the search has ended, or by the closing. */
    private volatile @Nullable CuratorFramework client;

    /**
     * Calls nothing yet.
     *
     * @param connected run on the executor when the client connects, and when a client is closed but the supplier returns another one
     * @param closed run on the executor when the owner begins to close the client, and the supplier returns no other one
     */
    CuratorSessionSource(
            Supplier<? extends @Nullable CuratorFramework> clients,
            SerialExecutor executor,
            Scheduler mayBlock,
            Runnable connected,
            Runnable closed) {
        this.clients = clients;
        this.executor = executor;
        this.mayBlock = mayBlock;
        listener = (changed, state) -> {
            if (state.isConnected()) {
                executor.run(connected);
            }
        };
        closing = (changed, event) -> {
            if (event.getType() == CuratorEventType.CLOSING) {
                Disposable unused = Mono.fromCallable(clients::get)
                        .subscribeOn(mayBlock)
                        .map(present -> !present.equals(changed))
                        .onErrorReturn(false)
                        .defaultIfEmpty(false)
                        .subscribe(hasSuccessor -> executor.run(hasSuccessor ? connected : closed));
            }
        };
    }

    /**
     * Starts a search unless one is under way. Meanwhile Curator may open a handle, close another one and wait for locks, so the search
     * must not run on the executor. Its outcome is handled there.
     */
    void begin(Consumer<Found> whenFound, Consumer<Throwable> whenFailed) {
        if (isRunning || isClosed) {
            return;
        }
        isRunning = true;
        Disposable unused = Mono.fromCallable(this::find)
                .subscribeOn(mayBlock)
                .subscribe(
                        found -> executor.run(() -> ended(() -> whenFound.accept(found))),
                        error -> executor.run(() -> ended(() -> whenFailed.accept(error))));
    }

    /** Stops listening to the client. */
    void close() {
        isClosed = true;
        CuratorFramework borrowed = client;
        if (borrowed != null) {
            borrowed.getConnectionStateListenable().removeListener(listener);
            listenForItsClosing(borrowed, false);
        }
    }

    /** Whether the owner of the client has closed it. Curator never reopens a closed client. Does not block. */
    boolean isClientClosed() {
        return ask(borrowed -> borrowed.getState() == CuratorFrameworkState.STOPPED, false);
    }

    /** Returns the servers that the client was given. Does not block. */
    Servers servers() {
        return ask(borrowed -> Servers.of(borrowed.getZookeeperClient().getCurrentConnectionString()), Servers.UNKNOWN);
    }

    /** Even if the client fails the call, the request must get an answer: a proxy may fail each call. */
    private <T> T ask(Function<CuratorFramework, T> question, T otherwise) {
        CuratorFramework borrowed = client;
        try {
            return borrowed == null ? otherwise : question.apply(borrowed);
        } catch (RuntimeException refused) {
            LOG.debug("the Curator client does not report its state", refused);
            return otherwise;
        }
    }

    private void listenForItsClosing(CuratorFramework borrowed, boolean isWanted) {
        try {
            if (isWanted) {
                borrowed.getCuratorListenable().addListener(closing);
            } else {
                borrowed.getCuratorListenable().removeListener(closing);
            }
        } catch (UnsupportedOperationException viewOfAClient) {
            LOG.debug("{} does not notify listeners when it is closed: the back end reads its state instead", borrowed);
        }
    }

    private void ended(Runnable tell) {
        isRunning = false;
        if (isClosed) {
            close(); // the search may have added its listeners after the closing
        } else {
            tell.run();
        }
    }

    private Found find() throws Exception {
        try {
            CuratorFramework borrowed = clients.get();
            if (borrowed == null) {
                throw ZooKeeperFailures.noClient(new Subject("", "opening a session"));
            }
            listenTo(borrowed);
            CuratorZookeeperClient connector = borrowed.getZookeeperClient();
            return new Found(
                    connector.getZooKeeper(),
                    Servers.chroot(connector.getCurrentConnectionString()),
                    borrowed.getNamespace());
        } catch (LinkageError e) {
            // Reactor throws a LinkageError instead of passing it on, as if the JVM had failed. Here only a class of
            // ZooKeeper is missing.
            throw new IncompleteClassPath(e);
        }
    }

    /** Listens to one client at a time. */
    private void listenTo(CuratorFramework borrowed) {
        CuratorFramework before = client;
        if (borrowed.equals(before)) {
            return;
        }
        if (before != null) {
            before.getConnectionStateListenable().removeListener(listener);
            listenForItsClosing(before, false);
        }
        borrowed.getConnectionStateListenable().addListener(listener);
        client = borrowed;
        listenForItsClosing(borrowed, true);
    }

    /** A class is missing, so another try cannot help. */
    private static final class IncompleteClassPath extends Exception {

        private static final long serialVersionUID = 1;

        private IncompleteClassPath(LinkageError cause) {
            super(cause);
        }
    }
}
