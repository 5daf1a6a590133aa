package io.holdfast.redis.internal.connection;

import io.lettuce.core.RedisAsyncCommandsImpl;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A driver in virtual time whose connections accept each command and answer none: the test answers, or does not. */
public final class ManualDriver implements DriverClient {

    /** The commands that were sent on all connections. This driver does not answer them. */
    public final List<RedisCommand<?, ?, ?>> sent = new ArrayList<>();

    /** The loading of scripts, which is not among {@link #sent}. */
    public final List<RedisCommand<?, ?, ?>> loads = new ArrayList<>();

    /** The servers to which connections were made. */
    public final List<RedisURI> servers = new ArrayList<>();

    /** How often commands were given to it: several at a time count once. */
    public int dispatches;

    /** Thrown at each of those calls, if not null. */
    @Nullable
    public RuntimeException refusal;

    /** The results of the next attempts to connect; those after that succeed. */
    public final Queue<CompletableFuture<StatefulRedisPubSubConnection<String, String>>> connections =
            new ArrayDeque<>();

    /** The preparation of each connection. */
    public ConnectionInitializer setup = ConnectionInitializer.NONE;

    private final PriorityQueue<Task> tasks = new PriorityQueue<>(Comparator.comparingLong(Task::dueNanos));
    private long now;

    private record Task(long dueNanos, Runnable work) {}

    public void pass(Duration time) {
        long end = now + time.toNanos();
        for (Task next = tasks.peek(); next != null && next.dueNanos() <= end; next = tasks.peek()) {
            tasks.remove();
            now = next.dueNanos();
            next.work().run();
        }
        now = end;
    }

    @Override
    public ConnectionInitializer setup() {
        return setup;
    }

    /** The back end's own preparation needs answers, which this driver does not give. */
    @Override
    public void prepareBy(ConnectionInitializer wanted) {}

    @Override
    public CompletableFuture<StatefulRedisPubSubConnection<String, String>> connect(RedisURI uri) {
        servers.add(uri);
        CompletableFuture<StatefulRedisPubSubConnection<String, String>> chosen = connections.poll();
        return chosen != null ? chosen : CompletableFuture.completedFuture(newConnection());
    }

    @SuppressWarnings("unchecked")
    public StatefulRedisPubSubConnection<String, String> newConnection() {
        return (StatefulRedisPubSubConnection<String, String>) Proxy.newProxyInstance(
                ManualDriver.class.getClassLoader(),
                new Class<?>[] {StatefulRedisPubSubConnection.class},
                this::called);
    }

    @SuppressWarnings("unchecked") // it is called for the connections of newConnection() only
    private @Nullable Object called(Object connection, Method method, Object @Nullable [] arguments) {
        return switch (method.getName()) {
            case "dispatch" -> {
                if (refusal != null) {
                    throw refusal;
                }
                dispatches++;
                if (arguments[0] instanceof Collection<?> several) {
                    several.forEach(command -> sent.add((RedisCommand<?, ?, ?>) command));
                } else {
                    RedisCommand<?, ?, ?> command = (RedisCommand<?, ?, ?>) arguments[0];
                    (command.getType() == CommandType.SCRIPT ? loads : sent).add(command);
                }
                yield arguments[0];
            }
            case "isOpen" -> true;
            case "async" ->
                new RedisAsyncCommandsImpl<>(
                        (StatefulRedisPubSubConnection<String, String>) connection, StringCodec.UTF8);
            case "closeAsync" -> CompletableFuture.completedFuture(null);
            case "equals" -> connection == arguments[0];
            case "hashCode" -> System.identityHashCode(connection);
            case "toString" -> "a connection without answers";
            case "addListener", "removeListener" -> null;
            default -> throw new UnsupportedOperationException(method.toString());
        };
    }

    @Override
    public void connected(CommandLink link) {}

    @Override
    public void later(Duration pause, Runnable task) {
        tasks.add(new Task(now + pause.toNanos(), task));
    }

    @Override
    public long nanoTime() {
        return ++now; // an answer and the next request are not at the same time
    }

    @Override
    public boolean isClosed() {
        return false;
    }

    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }
}
