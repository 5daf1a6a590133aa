package io.holdfast.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The demo as a user runs it: three JVMs, a real Redis, and a kill; only with fewer buyers. */
@Timeout(60)
class FlashSaleIT {

    private static RedisServer redis;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

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
        int status = run("--items", "100", "--buyers", "400", "--redis", redis.uri());

        assertThat(status).as(() -> out + "\n" + err).isZero();
        assertThat(row("buyers answered")).isEqualTo("400 of 400");
        assertThat(row("sold")).isEqualTo("100");
        assertThat(row("oversold")).isEqualTo("0");
        assertThat(row("tokens strictly rising")).isEqualTo("yes, over 401 grants");
        assertThat(row("shop killed")).isEqualTo("B, with the lock in hand");
        assertThat(whatIsLeftForEver()).isEmpty();
    }

    @Test
    void theLockMayBeInZooKeeper() {
        int status = run("--items", "100", "--buyers", "400", "--zookeeper", "--redis", redis.uri());

        assertThat(status).as(() -> out + "\n" + err).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("each sale under a Holdfast lock in ZooKeeper");
        assertThat(row("sold")).isEqualTo("100");
        assertThat(row("oversold")).isEqualTo("0");
        assertThat(row("tokens strictly rising")).isEqualTo("yes, over 401 grants");
        assertThat(row("shop killed")).isEqualTo("B, with the lock in hand");
    }

    @Test
    void underRedlockTheSaleGoesOnWhenTwoOfFiveMastersAreKilled() {
        int status = run("--items", "100", "--buyers", "400", "--redlock", "--redis", redis.uri());

        assertThat(status).as(() -> out + "\n" + err).isZero();
        assertThat(row("buyers answered")).isEqualTo("400 of 400");
        assertThat(row("oversold")).isEqualTo("0");
        assertThat(row("masters killed")).isEqualTo("2 of 5, half way");
        assertThat(row("tokens strictly rising")).isEqualTo("yes, over 401 grants");
        assertThat(row("shop killed")).isEqualTo("B, with the lock in hand");
        assertThat(whatIsLeftForEver()).isEmpty();
    }

    @Test
    void withoutTheLockItemsAreSoldTwice() {
        int status = run("--items", "100", "--buyers", "400", "--without-lock", "--redis", redis.uri());

        assertThat(status).as(() -> out + "\n" + err).isEqualTo(1);
        assertThat(row("buyers answered")).isEqualTo("400 of 400");
        assertThat(Integer.parseInt(row("oversold"))).isPositive();
        assertThat(whatIsLeftForEver()).isEmpty();
    }

    @Test
    void aServerThatDoesNotAnswerIsNamed() {
        int status = run("--redis", "redis://127.0.0.1:1");

        assertThat(status).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("no Redis answers at 127.0.0.1:1");
    }

    private int run(String... arguments) {
        return FlashSale.run(
                List.of(arguments),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    private String row(String title) {
        return Stream.of(out.toString(StandardCharsets.UTF_8).split("\n"))
                .filter(line -> line.startsWith("  " + title + " "))
                .map(line -> line.substring(title.length() + 2).strip())
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row '%s' in:%n%s".formatted(title, out)));
    }

    private static List<String> whatIsLeftForEver() {
        try (RedisClient client = RedisClient.create(redis.uri())) {
            RedisCommands<String, String> commands = client.connect().sync();
            return commands.keys("*").stream()
                    .filter(key -> commands.pttl(key) == -1)
                    .toList();
        }
    }
}
