package io.holdfast.redis.internal.connection;

import io.holdfast.redis.internal.script.FlushBatch;
import io.lettuce.core.event.EventBus;
import io.lettuce.core.event.EventPublisherOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.SocketAddressResolver;
import io.lettuce.core.tracing.Tracing;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.Timer;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The caller's resources or the back end's own, with one addition to each connection: commands that the driver sends by
 * itself in answer to one read leave in one write. Without it the driver makes a system call for each command, and with
 * many locks those calls are most of the cost, here and at the server. The scripts of locks leave through a {@link
 * FlushBatch}.
 *
 * <p>This class does not use {@link ClientResources#mutate}: that makes other resources, which would have to be shut
 * down as well.
 */
final class DriverResources implements ClientResources {

    private final ClientResources given;
    private final NettyCustomizer customizer;
    private final SingleEventLoopProvider eventLoops;
    private final PendingHandshakes unfinished = new PendingHandshakes();
    private final ReconnectFailures failures;

    DriverResources(ClientResources given) {
        this.given = given;
        failures = new ReconnectFailures(given.eventBus());
        customizer = new Consolidating(given.nettyCustomizer(), unfinished);
        eventLoops = new SingleEventLoopProvider(given.eventLoopGroupProvider());
    }

    /** Stands after the caller's additions, which therefore see each command by itself. */
    private record Consolidating(NettyCustomizer callers, PendingHandshakes unfinished) implements NettyCustomizer {

        @Override
        public void afterBootstrapInitialized(Bootstrap bootstrap) {
            callers.afterBootstrapInitialized(bootstrap);
        }

        @Override
        public void afterChannelInitialized(Channel channel) {
            callers.afterChannelInitialized(channel);
            channel.pipeline().addFirst(new FlushConsolidationHandler(FlushBatch.MOST));
            unfinished.add(channel);
        }
    }

    /** Called when no caller waits for a connection any more. */
    void closeUnfinished() {
        unfinished.closeAll();
    }

    @Override
    public NettyCustomizer nettyCustomizer() {
        return customizer;
    }

    @Override
    public Builder mutate() {
        return given.mutate();
    }

    @Override
    public Future<Boolean> shutdown() {
        return given.shutdown();
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        return given.shutdown(quietPeriod, timeout, unit);
    }

    @Override
    public AddressResolverGroup<?> addressResolverGroup() {
        return given.addressResolverGroup();
    }

    @Override
    public EventPublisherOptions commandLatencyPublisherOptions() {
        return given.commandLatencyPublisherOptions();
    }

    @Override
    public CommandLatencyRecorder commandLatencyRecorder() {
        return given.commandLatencyRecorder();
    }

    @Override
    public int computationThreadPoolSize() {
        return given.computationThreadPoolSize();
    }

    @Override
    public EventBus eventBus() {
        return failures;
    }

    /** Returns why connections could not be restored. */
    ReconnectFailures reconnectFailures() {
        return failures;
    }

    /** Returns the thread of all connections of the client. */
    SingleEventLoopProvider eventLoop() {
        return eventLoops;
    }

    @Override
    public EventLoopGroupProvider eventLoopGroupProvider() {
        return eventLoops;
    }

    @Override
    public EventExecutorGroup eventExecutorGroup() {
        return given.eventExecutorGroup();
    }

    @Override
    public int ioThreadPoolSize() {
        return given.ioThreadPoolSize();
    }

    @Override
    public Delay reconnectDelay() {
        return given.reconnectDelay();
    }

    @Override
    public SocketAddressResolver socketAddressResolver() {
        return given.socketAddressResolver();
    }

    @Override
    public Timer timer() {
        return given.timer();
    }

    @Override
    public Tracing tracing() {
        return given.tracing();
    }
}
