package io.holdfast.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the demo as a user does: three JVMs, a real Redis, and a kill. It has fewer buyers. */
@Timeout(180)
class FlashSaleIT {

    @RegisterExtension
    static final DemoRedis REDIS = new DemoRedis();

    private final DemoRun demo = new DemoRun();

    @Test
    void underTheLockNothingIsOversoldThoughAHoldingShopIsKilled() {
        int status = demo.run("--items", "100", "--buyers", "400", "--redis", REDIS.uri());

        assertThat(status).as(demo::toString).isZero();
        assertThat(demo.row("buyers answered")).isEqualTo("400 of 400");
        assertThat(demo.row("sold")).isEqualTo("100");
        assertThat(demo.row("oversold")).isEqualTo("0");
        assertThat(demo.row("tokens strictly rising")).isEqualTo("yes, over 401 grants");
        assertThat(demo.row("shop killed")).isEqualTo("B, while it held the lock");
        assertThat(REDIS.keysThatNeverExpire()).isEmpty();
    }

    @Test
    void aSaleWithAHandOverInsideEachShopKeepsItsPromisesAndShowsBothRates() {
        int status = demo.run("--items", "100", "--buyers", "400", "--local-hand-over", "--redis", REDIS.uri());

        assertThat(status).as(demo::toString).isZero();
        assertThat(demo.output())
                .contains("each sale under a Holdfast lock\n")
                .contains("each sale under a Holdfast lock, handed over inside each shop\n")
                .containsOnlyOnce("Visits per second")
                .containsPattern("Visits per second: [0-9,]+ with a hand-over inside each shop, [0-9,]+ without\\.");
        assertThat(demo.output().split("yes, over 401 grants", -1)).hasSize(3);
        assertThat(REDIS.keysThatNeverExpire()).isEmpty();
    }

    @Test
    void withoutTheLockItemsAreSoldTwice() {
        int status = demo.run("--items", "100", "--buyers", "400", "--without-lock", "--redis", REDIS.uri());

        assertThat(status).as(demo::toString).isEqualTo(1);
        assertThat(demo.row("buyers answered")).isEqualTo("400 of 400");
        assertThat(Integer.parseInt(demo.row("oversold"))).isPositive();
        assertThat(REDIS.keysThatNeverExpire()).isEmpty();
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
}
