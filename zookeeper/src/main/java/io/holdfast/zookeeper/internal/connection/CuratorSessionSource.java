package io.holdfast.zookeeper.internal.connection;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.Servers;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import java.util.function.Function;
import java.util.function.Supplier;
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

/** Asks Curator for the handle of its session, and to tell when it is connected. On the executor, unless noted. */
final class CuratorSessionSource {

    /** What Curator has. */
    record Found(ZooKeeper handle, String namespace) {}

    /** Told on the executor, after each search. */
    interface Outcome {

        void found(Found found);

        void failed(Throwable error);
    }

    private final Supplier<? extends @Nullable CuratorFramework> clients;
    private final SerialExecutor executor;
    private final Scheduler mayBlock;
    private final ConnectionStateListener listener;
    private final CuratorListener closing;

    private boolean isRunning;
    private boolean isClosed;

    /** Written by the one search that runs, read when it has ended or is overtaken by the closing. */
    private volatile @Nullable CuratorFramework client;

    /**
     * Asks nothing yet.
     *
     * @param connected run on the executor, also when a client is closed in whose place there is another one
     * @param closed run on the executor when the owner of the client has begun to close it, and there is no other one
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

    /** Unless one is under way. Curator may open a handle, close one and wait for locks meanwhile, so this is not for the executor. */
    void begin(Outcome outcome) {
        if (isRunning || isClosed) {
            return;
        }
        isRunning = true;
        Disposable unused = Mono.fromCallable(this::find)
                .subscribeOn(mayBlock)
                .subscribe(
                        found -> executor.run(() -> ended(() -> outcome.found(found))),
                        error -> executor.run(() -> ended(() -> outcome.failed(error))));
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

    /** Whether the owner of the client has closed it: Curator never opens one again. Does not block. */
    boolean isClientClosed() {
        return ask(borrowed -> borrowed.getState() == CuratorFrameworkState.STOPPED, false);
    }

    /** The servers that the client was given; does not block. */
    Servers servers() {
        return ask(borrowed -> Servers.of(borrowed.getZookeeperClient().getCurrentConnectionString()), Servers.UNKNOWN);
    }

    /** A client that refuses to say it must not keep a request from its answer: a proxy may fail each call. */
    private <T> T ask(Function<CuratorFramework, T> question, T otherwise) {
        CuratorFramework borrowed = client;
        try {
            return borrowed == null ? otherwise : question.apply(borrowed);
        } catch (RuntimeException refused) {
            LOG.debug("the Curator client does not say how it is", refused);
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
            LOG.debug("{} does not tell when it is closed: its state is looked at", borrowed);
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
        try {
            CuratorFramework borrowed = clients.get();
            if (borrowed == null) {
                throw ZooKeeperFailures.noClient(new Subject("", "opening a session"));
            }
            listenTo(borrowed);
            return new Found(borrowed.getZookeeperClient().getZooKeeper(), borrowed.getNamespace());
        } catch (LinkageError e) {
            // Reactor throws a LinkageError instead of passing it on, as if the JVM were at its end; but only ZooKeeper
            // is incomplete.
            throw new IncompleteClassPath(e);
        }
    }

    /** To one client at a time. */
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

    /** A class is missing, so trying again cannot help. */
    private static final class IncompleteClassPath extends Exception {

        private static final long serialVersionUID = 1;

        private IncompleteClassPath(LinkageError cause) {
            super(cause);
        }
    }
}
