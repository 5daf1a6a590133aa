package io.holdfast.redis.internal.safety;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.Store;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.protocol.LockRequests;
import io.holdfast.redis.internal.protocol.QueueLimit;
import io.holdfast.redis.internal.topology.SingleMasterTopology;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Which keys count as held here. */
class KeyTrackingTest {

    private static final WatchSignal TOO_LATE = new WatchSignal.Granted(7, 1, Duration.ofMillis(1));
    private static final LockAttempt QUEUED = new LockAttempt.Queued(Duration.ofSeconds(1));

    private final ManualDriver driver = new ManualDriver();
    private final KeyTracking tracking = new KeyTracking(
            new SingleMasterTopology(driver, RedisURI.create("redis://localhost")),
            new LockRequests(
                    "holdfast:",
                    Duration.ofSeconds(2),
                    Duration.ofHours(2),
                    new QueueLimit(0, "here"),
                    server -> "me",
                    grant -> {},
                    false),
            driver::nanoTime,
            claimId -> {});

    private final LockClaim waiter = Store.claim("orders", Waiting.QUEUE);

    @Test
    void aWaiterWhoseGrantCameTooLateIsNoHolder() {
        tracking.signalled(waiter, TOO_LATE);

        tracking.attemptAnswered(waiter.withAttempt(2), QUEUED);

        assertThat(tracking.size()).isZero();
    }

    @Test
    void aLeaseThatIsAdoptedBesideAWaiterWithALateGrantIsTracked() {
        tracking.signalled(waiter, TOO_LATE);
        tracking.attemptAnswered(waiter.withAttempt(2), QUEUED);

        tracking.watched(Store.claim("orders", Waiting.NONE));
        tracking.ended(waiter);

        assertThat(tracking.size()).isOne();
    }

    /** The connection of the messages may be faster than that of the attempts. */
    @Test
    void aGrantThatOvertakesTheAnswerToItsAttemptIsTracked() {
        tracking.signalled(waiter, new WatchSignal.Granted(7, 1, Duration.ofSeconds(30)));

        tracking.attemptAnswered(waiter.withAttempt(1), QUEUED);

        assertThat(tracking.size()).isOne();
    }
}
