package io.holdfast.examples.flashsale;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The server with the stock of the demos of a test class. */
final class DemoRedis implements BeforeAllCallback, AfterAllCallback {

    private RedisServer server;

    @Override
    public void beforeAll(ExtensionContext context) {
        server = RedisServer.start();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        server.close();
    }

    String uri() {
        return server.uri();
    }

    List<String> keysThatNeverExpire() {
        try (RedisClient client = RedisClient.create(uri())) {
            RedisCommands<String, String> commands = client.connect().sync();
            return commands.keys("*").stream()
                    .filter(key -> commands.pttl(key) == -1)
                    .toList();
        }
    }
}
