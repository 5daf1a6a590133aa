package io.holdfast.redis.internal.connection;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import java.net.SocketAddress;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;

/**
 * Notes when connections take commands for the first time. With a password from a provider, and {@code
 * RedisURI.Builder} makes one of any password, the driver may finish the handshake on a thread that is not the
 * connection's event loop. Then it reports the connection a moment before the connection is made ({@code
 * RedisHandshakeHandler.channelActive}), and refuses the first command as if the connection were lost.
 */
final class ActiveConnections implements RedisConnectionStateListener {

    private final Map<Object, CompletableFuture<Void>> firsts = Collections.synchronizedMap(new WeakHashMap<>());

    /** Completes when this connection takes commands, or has done so; fails if it was lost before. */
    CompletableFuture<Void> when(Object connection) {
        return firsts.computeIfAbsent(connection, it -> new CompletableFuture<>());
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress server) {
        when(connection).complete(null);
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
        when(connection).completeExceptionally(new RedisException("the connection was closed"));
    }
}
