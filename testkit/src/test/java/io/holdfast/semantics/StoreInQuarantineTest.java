package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A back end may not grant for a known time: that is no contention, and no reason to give up. */
class StoreInQuarantineTest {

    private static final Duration LONG = LEASE.multipliedBy(4);

    @RegisterExtension
    final World world = new World();

    private final Young young = new Young(world.store);
    private final LockClient client =
            LockClient.builder(young).timer(world.clock).closeBackend(false).build();

    @AfterEach
    void close() {
        world.subscribe(client.close());
    }

    @Test
    void tryAcquireFailsAndIsNotEmpty() {
        TestSubscriber<LockLease> tried =
                world.subscribe(client.lock("stock/42").tryAcquire());

        assertThat(tried.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.retryAfter()).contains(LONG));
    }

    @Test
    void acquireWithoutALimitWaitsForLongerThanALeaseWithOneAttempt() {
        TestSubscriber<LockLease> acquired =
                world.subscribe(client.lock("stock/42").acquire());
        world.pass(LONG.minusSeconds(1));
        assertThat(acquired.isTerminated()).isFalse();
        assertThat(young.asked).as("the failure says for how long").isEqualTo(1);

        world.pass(Duration.ofSeconds(3));

        assertThat(acquired.getReceivedOnNext()).singleElement().matches(LockLease::isValid);
        assertThat(young.asked).isEqualTo(2);
    }

    @Test
    void acquireWithALimitFailsWithTheReasonAndNotWithContention() {
        LockOptions limited =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(5)).build();
        TestSubscriber<LockLease> acquired =
                world.subscribe(client.lock("stock/42").with(limited).acquire());

        world.pass(Duration.ofSeconds(5));

        assertThat(acquired.expectTerminalError())
                .hasMessageContaining("the store is in quarantine")
                .hasMessageNotContaining("was held")
                .isInstanceOfSatisfying(
                        LockTimeoutException.class,
                        error -> assertThat(error.backendAnswered()).isFalse());
    }

    @Test
    void aCancellationMeanwhileLeavesNothingBehind() {
        TestSubscriber<LockLease> acquired =
                world.subscribe(client.lock("stock/42").acquire());
        acquired.cancel();
        world.pass(LONG.plusSeconds(3));

        assertThat(young.asked).isEqualTo(1);
        assertThat(world.granted(client.lock("stock/42").tryAcquire()).isValid())
                .isTrue();
    }

    private final class Young implements ForwardingLockBackend {

        private final LockBackend store;
        private final long until = now() + LONG.toNanos();
        private int asked;

        Young(LockBackend store) {
            this.store = store;
        }

        private long now() {
            return world.clock.now(TimeUnit.NANOSECONDS);
        }

        @Override
        public LockBackend delegate() {
            return store;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> {
                asked++;
                Duration rest = Duration.ofNanos(until - now());
                return rest.isNegative() || rest.isZero()
                        ? store.tryAcquire(claim)
                        : Mono.error(
                                LockBackendException.notYet(claim.key().name(), "the store is in quarantine", rest));
            });
        }
    }
}
