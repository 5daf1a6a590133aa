package io.holdfast.redis.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.redis.Store;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.protocol.ChannelMessage;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A grant for which no claim waits goes back to the server, by a request that no lock client knows of. */
class GivenBackGrantTest {

    private static final Duration LIMIT = Duration.ofSeconds(2);

    private final ManualDriver driver = new ManualDriver();
    private final LockOperations operations = ManualOperations.over(driver, false);
    private final LockKey key = LockKey.of(LockKind.MUTEX, "orders");

    private void giveBack() {
        operations.giveBack(new ChannelMessage(
                List.of("left"), new WatchSignal.Granted(7, 1, Duration.ofSeconds(2)), LockKeys.of("holdfast:", key)));
    }

    @Test
    void theReleaseOfAGrantOnAConnectionThatHangsEndsAfterAWhile() {
        giveBack();
        assertThat(driver.sent).hasSize(1);
        assertThat(driver.sent.get(0).isDone()).isFalse();

        driver.pass(LIMIT.minusMillis(1));
        assertThat(driver.sent.get(0).isDone()).isFalse();
        driver.pass(Duration.ofMillis(1));

        assertThat(driver.sent.get(0).isDone()).isTrue();
    }

    /** The release waits for the script that the server lacked, and the server does not answer any more. */
    @Test
    void aReleaseDoesNotWaitForEverForAScript() {
        giveBack();
        RedisCommand<?, ?, ?> first = driver.sent.get(0);
        first.getOutput().setError("NOSCRIPT No matching script. Please use EVAL.");
        first.complete();
        assertThat(driver.loads).hasSize(2);
        LockClaim held = Store.claim("invoices", Waiting.NONE);
        var release = operations.release(held).subscribe();
        assertThat(driver.sent).as("waits for the script").hasSize(1);

        driver.pass(LIMIT.plusSeconds(1));

        assertThat(driver.sent).as("on another connection").hasSize(2);
        release.dispose();
    }
}
