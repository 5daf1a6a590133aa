package io.holdfast.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ConnectionState;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.PubSubEndpoint;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnectionImpl;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.tracing.Tracing;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A simulated connection for subscriptions. It has the driver's own class, by which the product sees that it speaks RESP3. */
final class SimulatedSubscriptions extends StatefulRedisPubSubConnectionImpl<String, String> {

    private static final ClientResources RESOURCES = only(ClientResources.class, "tracing", Tracing.disabled());
    private static final RedisChannelWriter WRITER = only(RedisChannelWriter.class, "getClientResources", RESOURCES);

    private static final ConnectionState RESP3 = new ConnectionState() {
        @Override
        public ProtocolVersion getNegotiatedProtocolVersion() {
            return ProtocolVersion.RESP3;
        }
    };

    private final StatefulRedisPubSubConnection<String, String> simulated;

    SimulatedSubscriptions(StatefulRedisPubSubConnection<String, String> simulated) {
        super(new PubSubEndpoint<>(ClientOptions.create(), RESOURCES), WRITER, StringCodec.UTF8, Duration.ofSeconds(1));
        this.simulated = simulated;
    }

    /** All other methods do nothing. */
    private static <T> T only(Class<T> type, String method, Object answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, called, args) -> called.getName().equals(method) ? answer : null));
    }

    @Override
    public ConnectionState getConnectionState() {
        return RESP3;
    }

    @Override
    public RedisPubSubAsyncCommands<String, String> async() {
        return simulated == null ? super.async() : simulated.async(); // the driver's constructor calls it
    }

    @Override
    public void addListener(RedisPubSubListener<String, String> listener) {
        simulated.addListener(listener);
    }

    @Override
    public void addListener(RedisConnectionStateListener listener) {
        simulated.addListener(listener);
    }

    @Override
    public boolean isOpen() {
        return simulated.isOpen();
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        return simulated.closeAsync();
    }
}
