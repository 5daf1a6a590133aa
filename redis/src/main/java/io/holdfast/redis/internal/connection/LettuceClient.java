package io.holdfast.redis.internal.connection;

import static java.util.Objects.requireNonNull;

import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.EpollProvider;
import io.lettuce.core.resource.ExtendedKeepAliveSupport;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The client of the driver, with the options that the safety rules need. It ends everything that it started. */
public final class LettuceClient implements DriverClient {

    /** The limit for the socket, and again for the handshake: a lock cannot use a server that takes longer. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

    /** The longest time that the kernel keeps a connection whose peer acknowledges nothing: the default lease. */
    private static final Duration UNACKNOWLEDGED = Duration.ofSeconds(30);

    /** The kernel closes an idle connection whose peer is gone after the same time. */
    private static final SocketOptions.KeepAliveOptions KEEP_ALIVE = SocketOptions.KeepAliveOptions.builder()
            .enable()
            .idle(Duration.ofSeconds(15))
            .interval(Duration.ofSeconds(5))
            .count(3)
            .build();

    private static final int SHUTDOWN_SECONDS = 2;

    /** Longer than all the waits of the shutdown together. */
    private static final int CLOSING_SECONDS = 15;

    private final RedisClient client;
    private final TlsOptions tls;

    /** Makes the options of the client from those of TLS. */
    private final Function<SslOptions, ClientOptions> options;

    private final DriverResources resources;

    /** Null if the resources are the caller's. */
    private final @Nullable OwnResources own;

    private final AtomicBoolean isClosed = new AtomicBoolean();

    private final Consumer<CommandLink> onConnected;

    /** Connections that are being made. */
    private final Set<CompletableFuture<?>> attempts = ConcurrentHashMap.newKeySet();

    private final ActiveConnections active = new ActiveConnections();

    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    /** Written once, before the first connection. */
    private volatile ConnectionInitializer setup = ConnectionInitializer.NONE;

    private LettuceClient(
            RedisClient client,
            TlsOptions tls,
            Function<SslOptions, ClientOptions> options,
            DriverResources resources,
            @Nullable OwnResources own,
            Consumer<CommandLink> onConnected) {
        this.client = client;
        this.tls = tls;
        this.options = options;
        this.resources = resources;
        this.own = own;
        this.onConnected = onConnected;
        client.addListener(active);
    }

    /**
     * Makes a client.
     *
     * @param shared the caller's; null for own resources
     * @param own the own resources to use; null for new ones
     * @param change changes the options of the sockets
     * @param timeouts for commands: of no use for locks, whose engine bounds every operation
     * @param onConnected receives each connection for commands that is in force, for the first time or again
     */
    public static LettuceClient create(
            @Nullable ClientResources shared,
            @Nullable OwnResources own,
            TlsOptions tls,
            UnaryOperator<SocketOptions.Builder> change,
            TimeoutOptions timeouts,
            Consumer<CommandLink> onConnected) {
        SocketOptions sockets = change.apply(sockets(shared == null)).build();
        Function<SslOptions, ClientOptions> options = ssl -> options(ssl, timeouts, sockets);
        ClientOptions withoutTls = DriverVersions.fitting(() -> options.apply(SslOptions.create()));
        OwnResources ours = shared != null ? null : own != null ? own : new OwnResources(1);
        DriverResources resources = new DriverResources(ours != null ? ours.get() : requireNonNull(shared));
        RedisClient client = RedisClient.create(resources);
        client.setOptions(withoutTls);
        return new LettuceClient(client, tls, options, resources, ours, onConnected);
    }

    /**
     * Fails the command: the driver forgets a command that it does not replay, and that command would wait for its
     * answer for ever.
     */
    private static boolean drop(RedisCommand<?, ?, ?> command) {
        boolean unused = command.completeExceptionally(
                new RedisException("the connection was closed before the answer came; the command is not sent again"));
        return true;
    }

    /** Copies the address: the caller may change its own. Replaces a time limit that the caller did not choose. */
    public static RedisURI copyOf(RedisURI given) {
        RedisURI.Builder copy = RedisURI.builder(given);
        given.getSentinels().forEach(sentinel -> copy.withSentinel(copyOf(sentinel)));
        if (given.getSentinelMasterId() != null) {
            copy.withSentinelMasterId(given.getSentinelMasterId());
        }
        RedisURI uri = copy.build();
        if (uri.getTimeout().equals(RedisURI.DEFAULT_TIMEOUT_DURATION)) {
            uri.setTimeout(CONNECT_TIMEOUT);
        }
        return uri;
    }

    private static ClientOptions options(SslOptions ssl, TimeoutOptions timeouts, SocketOptions sockets) {
        return withoutMaintenance(ClientOptions.builder())
                .protocolVersion(ProtocolVersion.RESP3)
                .autoReconnect(true)
                // Only if the address has a provider that emits new credentials.
                .reauthenticateBehavior(ClientOptions.ReauthenticateBehavior.ON_NEW_CREDENTIALS)
                .sslOptions(ssl)
                // A renewal that waits for a connection, or that the driver repeats on the next one, would revive a
                // lock.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(LettuceClient::drop)
                .timeoutOptions(timeouts)
                .socketOptions(sockets)
                .build();
    }

    /** Lettuce 6 has no such notifications. */
    private static ClientOptions.Builder withoutMaintenance(ClientOptions.Builder options) {
        try {
            return options.maintNotificationsConfig(MaintNotificationsConfig.disabled());
        } catch (NoClassDefFoundError lettuce6) {
            return options;
        }
    }

    /** Lettuce 6 cannot say it. It leaves out what it cannot set, and logs that. */
    private static boolean canSetKeepAlive() {
        try {
            return ExtendedKeepAliveSupport.isSupported();
        } catch (NoClassDefFoundError lettuce6) {
            return true;
        }
    }

    /**
     * The options of sockets. Those of the kernel depend on the transport, and the driver fails if it cannot set one: so
     * only for its own choice of transport.
     */
    private static SocketOptions.Builder sockets(boolean hasOwnResources) {
        SocketOptions.Builder sockets = SocketOptions.builder()
                .connectTimeout(CONNECT_TIMEOUT)
                .keepAlive(true)
                .tcpNoDelay(true);
        if (hasOwnResources && canSetKeepAlive()) {
            sockets.keepAlive(KEEP_ALIVE);
        }
        if (hasOwnResources && EpollProvider.isAvailable()) { // the transport of the JDK has no such option
            sockets.tcpUserTimeout(SocketOptions.TcpUserTimeoutOptions.builder()
                    .enable()
                    .tcpUserTimeout(UNACKNOWLEDGED)
                    .build());
        }
        return sockets;
    }

    @Override
    public ConnectionInitializer setup() {
        return setup;
    }

    @Override
    public void prepareBy(ConnectionInitializer wanted) {
        setup = wanted;
    }

    @Override
    public CompletableFuture<StatefulRedisPubSubConnection<String, String>> connect(RedisURI uri) {
        CompletableFuture<StatefulRedisPubSubConnection<String, String>> result = new CompletableFuture<>();
        attempts.add(result);
        if (!hasTls(uri)) {
            make(uri, result);
            return result;
        }
        var unused = tls.options().whenComplete((ssl, error) -> {
            if (error != null || isClosed()) {
                fail(result, error != null ? error : closed());
            } else {
                client.setOptions(options.apply(ssl));
                make(uri, result);
            }
        });
        return result;
    }

    private static boolean hasTls(RedisURI uri) {
        return uri.isSsl() || uri.getSentinels().stream().anyMatch(RedisURI::isSsl);
    }

    private void make(RedisURI uri, CompletableFuture<StatefulRedisPubSubConnection<String, String>> result) {
        try {
            // Under RESP3 the driver sends any command on such a connection, and messages come between the answers.
            var unused = client.connectPubSubAsync(StringCodec.UTF8, uri).whenComplete((connection, error) -> {
                if (error != null) {
                    fail(result, error);
                } else {
                    var unusedEnd =
                            active.when(connection).whenComplete((nothing, lost) -> hand(connection, lost, result));
                }
            });
        } catch (RuntimeException | Error closed) {
            // The waiting commands have to fail on an Error too, such as a class that the driver lacks.
            fail(result, closed);
        }
    }

    private void hand(
            StatefulRedisPubSubConnection<String, String> connection,
            @Nullable Throwable lost,
            CompletableFuture<StatefulRedisPubSubConnection<String, String>> result) {
        if (lost == null && !isClosed()) {
            attempts.removeIf(it -> it == result);
            result.complete(connection);
            return;
        }
        // The driver would restore a connection that no client uses. Its shutdown closes only the connections that it
        // knows, and may not have known this one.
        var unusedClosing = connection.closeAsync();
        fail(result, lost != null ? lost : closed());
    }

    private static CancellationException closed() {
        return new CancellationException(KnownError.CLOSED);
    }

    private void fail(CompletableFuture<?> attempt, Throwable error) {
        attempts.removeIf(it -> it == attempt);
        attempt.completeExceptionally(isClosed() ? closed() : error);
    }

    @Override
    public @Nullable Throwable reconnectFailure(RedisURI uri) {
        return resources.reconnectFailures().of(uri);
    }

    @Override
    public void connected(CommandLink link) {
        onConnected.accept(link);
    }

    @Override
    public boolean runWhereCommandsAreWritten(Runnable task) {
        return resources.eventLoop().execute(task);
    }

    @Override
    public void later(Duration pause, Runnable task) {
        if (isClosed()) {
            return;
        }
        try {
            var unused = client.getResources()
                    .eventExecutorGroup()
                    .schedule(
                            () -> {
                                if (!isClosed()) {
                                    task.run();
                                }
                            },
                            pause.toNanos(),
                            TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException closing) {
            // Closed at this moment, or the shared resources were shut down: no task is left for later.
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public boolean isClosed() {
        return isClosed.get();
    }

    @Override
    public Mono<Void> close() {
        if (isClosed.compareAndSet(false, true)) {
            // The driver's shutdown waits for its timer's thread. So it runs on a thread that may wait, and that ends
            // then.
            Thread closer = new Thread(this::shutdown, "holdfast-redis-close");
            closer.setDaemon(true);
            closer.start();
        }
        return Mono.fromFuture(closed, true);
    }

    private void shutdown() {
        // The driver's event loop spins for ever in its SharedLock once a thread that wrote has died of an Error there
        // (redis/lettuce#3880), and its shutdown waits for that loop.
        var unused = closed.completeOnTimeout(null, CLOSING_SECONDS, TimeUnit.SECONDS);
        try {
            shutdownDriver();
        } catch (InterruptedException | ExecutionException | RuntimeException alreadyGoing) {
            // Neither the client nor an operator can do anything about it.
        } finally {
            closed.complete(null);
        }
    }

    private void shutdownDriver() throws InterruptedException, ExecutionException {
        try {
            resources.closeUnfinished();
            awaitAttempts();
            if (own != null) {
                own.endConnecting(resources.eventLoop());
            }
            client.shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
        } finally {
            if (own != null) {
                own.leave();
            }
        }
    }

    /**
     * Waits for the connections that are being made: one that is unfinished when its event loop ends would never be
     * closed.
     */
    private void awaitAttempts() throws InterruptedException, ExecutionException {
        try {
            CompletableFuture.allOf(attempts.toArray(CompletableFuture<?>[]::new))
                    .exceptionally(failed -> null)
                    .get(SHUTDOWN_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException notEvenAChannel) {
            // The name of a host may still be looked up, for example. The shutdown waits no longer.
        }
    }
}
