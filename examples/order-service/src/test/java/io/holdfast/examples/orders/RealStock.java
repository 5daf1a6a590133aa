package io.holdfast.examples.orders;

import io.holdfast.testkit.server.RedisServer;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;

/** A real Redis for the stock of one test class. */
final class RealStock implements BeforeAllCallback, AfterAllCallback {

    private RedisServer server;
    private LettuceConnectionFactory connections;

    @Override
    public void beforeAll(ExtensionContext context) {
        server = RedisServer.start();
        connections = new LettuceConnectionFactory(server.host(), server.port());
        connections.afterPropertiesSet();
        connections.start();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        connections.destroy();
        server.close();
    }

    RedisServer server() {
        return server;
    }

    StockStore store() throws Exception {
        return new StockStore(new ReactiveStringRedisTemplate(connections));
    }
}
