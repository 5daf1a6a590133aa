package io.holdfast.redis.internal.connection;

import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The driver, as the rest of the back end needs it: connections, a clock, and delays. One implementation is Lettuce;
 * another one is simulated.
 */
public interface DriverClient {

    /** Returns the preparation of each new connection for the commands of locks. */
    ConnectionInitializer setup();

    /** Sets the preparation. Called at most once, before the first connection. */
    void prepareBy(ConnectionInitializer wanted);

    /**
     * Makes a connection for commands and subscriptions; fails, possibly at once, if there is none or if this client was
     * closed.
     */
    CompletableFuture<StatefulRedisPubSubConnection<String, String>> connect(RedisURI uri);

    /** Returns why the last attempt to restore a connection to that server failed; null if none has failed since. */
    default @Nullable Throwable reconnectFailure(RedisURI uri) {
        return null;
    }

    /** Reports a connection for the commands of locks that is in force: for the first time, or again. */
    void connected(CommandLink link);

    /**
     * Runs the task on the thread that writes commands, later: when that thread has handled all that it has read.
     * Returns false if there is no such thread; then the caller must run the task now.
     *
     * @throws java.util.concurrent.RejectedExecutionException if that thread has ended
     */
    default boolean runWhereCommandsAreWritten(Runnable task) {
        return false;
    }

    /** Runs the task on one of the driver's threads, unless this client is closed by then. */
    void later(Duration pause, Runnable task);

    /** The clock, as {@link System#nanoTime}. */
    long nanoTime();

    boolean isClosed();

    Mono<Void> close();
}
