package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The subscription to this client's channel at one server. It is on the connection for the commands there: each new
 * connection subscribes before its first command, and a restored one at once.
 */
final class ChannelSubscription {

    /** The pause before a subscription is repeated that the server refuses. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final String tag;
    private final ChannelName name;
    private final BiConsumer<Duration, Runnable> later;
    private final GrantSubscriber subscriber;

    /** Null before the first connection, and when the link has left one. Written by the threads that prepare and leave. */
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> connection;

    /** The connection on which the server has confirmed the subscription; written by the driver's thread. */
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> confirmed;

    /** Why the server does not allow the subscription; null if it does. Written by the driver's thread. */
    private volatile @Nullable Throwable refusal;

    /** Set while a repetition is planned. */
    private final AtomicBoolean isToBeRepeated = new AtomicBoolean();

    /**
     * Makes a subscription without a connection.
     *
     * @param tag see {@code Topology.tagOf}
     * @param later runs a task after a pause
     */
    ChannelSubscription(
            String tag, ChannelName name, BiConsumer<Duration, Runnable> later, GrantSubscriber subscriber) {
        this.tag = tag;
        this.name = name;
        this.later = later;
        this.subscriber = subscriber;
    }

    String tag() {
        return tag;
    }

    String name() {
        return name.on(connection);
    }

    boolean isUp() {
        StatefulRedisPubSubConnection<String, String> present = connection;
        return present != null && present.equals(confirmed);
    }

    @Nullable
    Throwable refusal() {
        return refusal;
    }

    /** Subscribes on a new connection, which replaces the former one. Fails if the connection is lost meanwhile. */
    CompletableFuture<?> begin(StatefulRedisPubSubConnection<String, String> made) {
        connection = made;
        made.addListener(new Messages(made));
        made.addListener(new Interruptions(made));
        name.askAgain();
        return subscribe(made);
    }

    private CompletableFuture<?> subscribe(StatefulRedisPubSubConnection<String, String> made) {
        return name.subscribe(made).handle((done, failed) -> {
            if (failed != null && !KnownError.isAnswer(failed)) {
                throw new CompletionException(failed);
            }
            if (made.equals(connection)) { // else the link has left it
                refusal = failed;
                if (failed == null) {
                    confirmed = made;
                    subscriber.isUp(this);
                } else {
                    repeatLater();
                }
            }
            return failed == null;
        });
    }

    /**
     * A refusal may pass: a long script that blocks the server ends, or the user gets the right. Until then the claims poll, and the
     * connection may last for weeks.
     */
    private void repeatLater() {
        if (isToBeRepeated.compareAndSet(false, true)) {
            later.accept(PAUSE, () -> {
                isToBeRepeated.set(false);
                StatefulRedisPubSubConnection<String, String> present = connection;
                if (present != null && present.isOpen() && refusal != null) {
                    var unused = subscribe(present);
                }
            });
        }
    }

    /** The link has left the connection. */
    void left() {
        connection = null;
    }

    /** The server may have other slots than before. */
    void slotsHaveMoved() {
        StatefulRedisPubSubConnection<String, String> present = connection;
        if (present != null && isUp() && !name.isSharded()) {
            name.shardAnew(present);
        }
    }

    private final class Messages extends RedisPubSubAdapter<String, String> {

        private final StatefulRedisPubSubConnection<String, String> mine;

        Messages(StatefulRedisPubSubConnection<String, String> mine) {
            this.mine = mine;
        }

        /** The slot of the channel has another server now. */
        @Override
        public void sunsubscribed(String channel, long count) {
            if (mine.equals(connection)) {
                name.shardAnew(mine);
            }
        }

        @Override
        public void smessage(String channel, String text) {
            subscriber.received(channel, text);
        }

        @Override
        public void message(String channel, String text) {
            subscriber.received(channel, text);
        }
    }

    private final class Interruptions implements RedisConnectionStateListener {

        private final StatefulRedisPubSubConnection<String, String> mine;

        Interruptions(StatefulRedisPubSubConnection<String, String> mine) {
            this.mine = mine;
        }

        /** The driver repeats the subscriptions as well, but only those that were confirmed, and tells no errors. */
        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress address) {
            if (mine.equals(connection)) {
                name.askAgain();
                var unused = subscribe(mine);
            }
        }

        /** The driver restores the connection. */
        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            if (mine.equals(connection)) {
                confirmed = null;
                subscriber.isInterrupted(ChannelSubscription.this);
            }
        }
    }
}
