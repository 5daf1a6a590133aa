package io.holdfast.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The demo with its lock in ZooKeeper, and in a majority of five Redis servers. */
@Timeout(180)
class OtherStoresSaleIT {

    @RegisterExtension
    static final DemoRedis REDIS = new DemoRedis();

    private final DemoRun demo = new DemoRun();

    @Test
    void theLockMayBeInZooKeeper() {
        int status = demo.run("--items", "100", "--buyers", "400", "--zookeeper", "--redis", REDIS.uri());

        assertThat(status).as(demo::toString).isZero();
        assertThat(demo.output()).contains("each sale under a Holdfast lock in ZooKeeper");
        assertThat(demo.row("sold")).isEqualTo("100");
        assertThat(demo.row("oversold")).isEqualTo("0");
        assertThat(demo.row("tokens strictly rising")).isEqualTo("yes, over 401 grants");
        assertThat(demo.row("shop killed")).isEqualTo("B, while it held the lock");
    }

    @Test
    void underRedlockTheSaleContinuesWhenTwoOfFiveMastersAreKilled() {
        int status = demo.run("--items", "100", "--buyers", "400", "--redlock", "--redis", REDIS.uri());

        assertThat(status).as(demo::toString).isZero();
        assertThat(demo.row("buyers answered")).isEqualTo("400 of 400");
        assertThat(demo.row("oversold")).isEqualTo("0");
        assertThat(demo.row("masters killed")).isEqualTo("2 of 5, half way");
        assertThat(demo.row("tokens strictly rising")).isEqualTo("yes, over 401 grants");
        assertThat(demo.row("shop killed")).isEqualTo("B, while it held the lock");
        assertThat(REDIS.keysThatNeverExpire()).isEmpty();
    }
}
