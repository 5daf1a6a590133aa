package io.holdfast.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The demo as a user runs it: three JVMs, a real Redis, and a kill; only with fewer buyers. */
@Timeout(60)
class FlashSaleIT {

    private static RedisServer redis;

    private final DemoRun demo = new DemoRun();

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start();
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @Test
    void underTheLockNothingIsOversoldThoughAShopIsKilledHoldingIt() {
        int status = demo.run("--items", "100", "--buyers", "400", "--redis", redis.uri());

        assertThat(status).as(demo::toString).isZero();
        assertThat(demo.row("buyers answered")).isEqualTo("400 of 400");
        assertThat(demo.row("sold")).isEqualTo("100");
        assertThat(demo.row("oversold")).isEqualTo("0");
        assertThat(demo.row("tokens strictly rising")).isEqualTo("yes, over 401 grants");
        assertThat(demo.row("shop killed")).isEqualTo("B, with the lock in hand");
        assertThat(whatIsLeftForEver(redis)).isEmpty();
    }

    @Test
    void withoutTheLockItemsAreSoldTwice() {
        int status = demo.run("--items", "100", "--buyers", "400", "--without-lock", "--redis", redis.uri());

        assertThat(status).as(demo::toString).isEqualTo(1);
        assertThat(demo.row("buyers answered")).isEqualTo("400 of 400");
        assertThat(Integer.parseInt(demo.row("oversold"))).isPositive();
        assertThat(whatIsLeftForEver(redis)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-h", "--help"})
    void helpIsGiven(String option) {
        assertThat(demo.run(option)).isZero();
        assertThat(demo.output()).isEqualTo(Settings.USAGE);
    }

    @Test
    void aServerThatDoesNotAnswerIsNamed() {
        int status = demo.run("--redis", "redis://127.0.0.1:1");

        assertThat(status).isEqualTo(2);
        assertThat(demo.errors()).contains("no Redis answers at 127.0.0.1:1");
    }

    static List<String> whatIsLeftForEver(RedisServer server) {
        try (RedisClient client = RedisClient.create(server.uri())) {
            RedisCommands<String, String> commands = client.connect().sync();
            return commands.keys("*").stream()
                    .filter(key -> commands.pttl(key) == -1)
                    .toList();
        }
    }
}
