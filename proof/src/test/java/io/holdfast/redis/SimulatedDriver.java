package io.holdfast.redis;

import io.holdfast.proof.sim.Host;
import io.holdfast.proof.sim.Network;
import io.holdfast.proof.sim.SimulatedRedis;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ConnectionInitializer;
import io.holdfast.redis.internal.connection.DriverClient;
import io.holdfast.spi.LockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * A driver in virtual time between the real back end and a simulated server. Its connections behave like those of Lettuce with our options: they
 * reconnect by themselves, refuse commands while they are disconnected, and fail the commands under way when they are lost.
 */
public final class SimulatedDriver implements DriverClient {

    private static final Duration TURN = Duration.ofNanos(300_000);

    private final Host host;
    private final Network network;
    private final Function<RedisURI, ? extends SimulatedRedis> servers;
    private final WrongDriver wrong;
    private final List<SimulatedConnection> connections = new ArrayList<>();
    private ConnectionInitializer setup = ConnectionInitializer.NONE;
    private boolean isClosed;

    private SimulatedDriver(
            Host host, Network network, Function<RedisURI, ? extends SimulatedRedis> servers, WrongDriver wrong) {
        this.host = host;
        this.network = network;
        this.servers = servers;
        this.wrong = wrong;
    }

    /** Makes the real back end over a simulated server. */
    public static LockBackend backend(
            Host host, Network network, SimulatedRedis server, Duration claimTime, Duration quarantine, String name) {
        return RedisLockBackend.builder(RedisURI.create("redis://" + server.name()))
                .claimTime(claimTime)
                .quarantine(quarantine)
                .build(new SimulatedDriver(host, network, uri -> server, WrongDriver.NONE), name);
    }

    /**
     * Makes the real back end over the simulated server to which an address points.
     *
     * @param uri the address as the back end knows it
     * @param options further options of the back end
     */
    public static LockBackend backend(
            Host host,
            Network network,
            RedisURI uri,
            Supplier<SimulatedRedis> address,
            UnaryOperator<RedisLockBackend.Builder> options,
            WrongDriver wrong,
            String name) {
        return options.apply(RedisLockBackend.builder(uri))
                .build(new SimulatedDriver(host, network, it -> address.get(), wrong), name);
    }

    /**
     * Makes the real back end over a simulated cluster.
     *
     * @param seeds the names of the configured servers
     * @param byName returns the server of a name
     */
    public static LockBackend clusterBackend(
            Host host,
            Network network,
            List<String> seeds,
            Function<String, ? extends SimulatedRedis> byName,
            Duration claimTime,
            String name) {
        return RedisLockBackend.clusterBuilder(seeds.stream()
                        .map(seed -> RedisURI.create("redis://" + seed))
                        .toList())
                .claimTime(claimTime)
                .build(new SimulatedDriver(host, network, uri -> byName.apply(uri.getHost()), WrongDriver.NONE), name);
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
        return open(uri).connected();
    }

    private SimulatedConnection open(RedisURI uri) {
        SimulatedConnection connection = new SimulatedConnection(host, network, () -> servers.apply(uri), wrong);
        connections.add(connection);
        if (isClosed) {
            connection.close();
        }
        return connection;
    }

    @Override
    public void connected(CommandLink link) {
        // The check of the eviction policy, which only warns.
    }

    /** A turn of the event loop takes time, so commands meet and are sent together. */
    @Override
    public boolean runWhereCommandsAreWritten(Runnable task) {
        Disposable unused = host.schedule(task, TURN.toNanos(), TimeUnit.NANOSECONDS);
        return true;
    }

    @Override
    public void later(Duration pause, Runnable task) {
        Disposable unused = host.schedule(
                () -> {
                    if (!isClosed) {
                        task.run();
                    }
                },
                pause.toNanos(),
                TimeUnit.NANOSECONDS);
    }

    @Override
    public long nanoTime() {
        return host.nanoTime();
    }

    @Override
    public boolean isClosed() {
        return isClosed;
    }

    @Override
    public Mono<Void> close() {
        return Mono.fromRunnable(() -> {
            isClosed = true;
            List.copyOf(connections).forEach(SimulatedConnection::close); // a close may make the back end connect again
        });
    }
}
