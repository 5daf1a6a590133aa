package io.holdfast.redis.internal.connection;

import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Mono;

/** What the rest of the back end needs of a driver: connections, a clock, and delays. One is Lettuce; another one is simulated. */
public interface DriverClient {

    /** What is done with each new connection for commands. */
    ConnectionInitializer setup();

    /** Called at most once, before the first connection. */
    void prepareBy(ConnectionInitializer wanted);

    /** A connection for commands; fails, possibly at once, when there is none or this was closed. */
    CompletableFuture<StatefulRedisConnection<String, String>> connect(RedisURI uri);

    /** A connection for subscriptions; fails as {@link #connect} does. */
    CompletableFuture<StatefulRedisPubSubConnection<String, String>> connectPubSub(RedisURI uri);

    /** A connection for the commands of locks is in force: for the first time, or again. */
    void connected(CommandLink link);

    /**
     * Has the thread that writes commands run it, later: when it has handled all that it has read. False when this thread is to run it, now:
     * there is no such thread.
     *
     * @throws java.util.concurrent.RejectedExecutionException if that thread has ended
     */
    default boolean runWhereCommandsAreWritten(Runnable task) {
        return false;
    }

    /** Runs it on one of the driver's threads, unless this is closed by then. */
    void later(Duration pause, Runnable task);

    /** As {@link System#nanoTime}. */
    long nanoTime();

    boolean isClosed();

    Mono<Void> close();
}
