package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that answers scripts in a way that no sound server does. */
class HostileReplyIT {

    private static final Duration LEASE = Duration.ofSeconds(6);

    private static FakeServer answering(String toScripts) throws IOException {
        return FakeServer.answering(command -> switch (command) {
            case "hello" -> FakeServer.HELLO;
            case "ping" -> "+PONG";
            case "info" -> "-NOPERM no";
            case "evalsha", "eval" -> toScripts;
            default -> "+OK";
        });
    }

    private static LockClient client(FakeServer server) {
        return LockClient.builder(RedisLockBackend.create(RedisURI.create("127.0.0.1", server.port())))
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .build();
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, 3_155_760_000_000L, 6_001})
    void leaseIsNoLongerThanRequested(long millis) throws IOException {
        try (FakeServer server = answering("*3\r\n:1\r\n:7\r\n:" + millis)) {
            LockClient client = client(server);
            LockLease lease = await(client.lock("orders").tryAcquire());
            assertThat(lease.remaining()).isLessThanOrEqualTo(LEASE);
            await(lease.release().onErrorComplete());
            await(client.close());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*3\r\n:1\r\n:9223372036854775807\r\n:5",
                "*3\r\n:1\r\n:7\r\n:-1",
                "*1\r\n:0",
                "*0",
                ":0",
                ":-7",
                "*2\r\n:9\r\n:5"
            })
    void replyThatMeansNothingIsAnErrorAtOnce(String reply) throws IOException {
        try (FakeServer server = answering(reply)) {
            LockClient client = client(server);
            assertThatThrownBy(() -> await(client.lock("orders").tryAcquire()))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("sends replies that no Redis server sends");
            await(client.close());
        }
    }

    @Test
    void hundredThousandNumbersAreAnErrorToo() throws IOException {
        try (FakeServer server = answering("*100000" + "\r\n:1".repeat(100_000))) {
            LockClient client = client(server);
            assertThatThrownBy(() -> await(client.lock("orders").tryAcquire()))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("unexpected reply of 0 numbers");
            await(client.close());
        }
    }
}
