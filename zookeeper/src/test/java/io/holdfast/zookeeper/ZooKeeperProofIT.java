package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.testkit.LeftoversExtension;
import java.time.Duration;
import java.util.UUID;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** How long the leases of a session are, depending on what it has proved. */
class ZooKeeperProofIT {

    private static final Duration SESSION = Duration.ofSeconds(3);
    private static final Duration THIRD = SESSION.dividedBy(3);

    private static Store store;

    private final ClockAhead clock = new ClockAhead(Schedulers.parallel());
    private final CuratorFramework curator = store.client("proof", store.address(), SESSION);
    private final ZooKeeperLockBackend backend =
            ZooKeeperLockBackend.builder(curator).scheduler(clock).build();

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("tree", () -> store.claims("/proof/holdfast"));

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @AfterEach
    void close() {
        Store.end(backend);
    }

    private static LockClaim claim(String name) {
        String id = UUID.randomUUID().toString().replace("-", "");
        return LockClaim.first(
                LockKey.of(LockKind.MUTEX, name), id, Duration.ofSeconds(30), io.holdfast.spi.Waiting.QUEUE);
    }

    private Duration lease(LockClaim claim) {
        return ((LockAttempt.Acquired) Waiting.forMono(backend.tryAcquire(claim))).lease();
    }

    @Test
    void firstLeaseIsAThirdOfTheSessionAndTheNextOnesAreLonger() {
        LockClaim claim = claim("grows");
        long asked = System.nanoTime();
        Duration first = lease(claim);
        Duration took = Duration.ofNanos(System.nanoTime() - asked);
        assertThat(first)
                .isBetween(SESSION.dividedBy(4).minus(took), THIRD.plus(took)); // counted from the start of the attempt
        Waiting.until(
                "a renewal gives a longer lease",
                () -> renewed(claim).compareTo(SESSION.multipliedBy(4).dividedBy(10)) > 0);
        assertThat(renewed(claim)).isLessThanOrEqualTo(THIRD.multipliedBy(2));
        Waiting.forMono(backend.release(claim));
    }

    private Duration renewed(LockClaim claim) {
        return ((Renewal.Held) Waiting.forMono(backend.renew(claim))).lease();
    }

    /** The test sends no requests meanwhile. Without the heartbeat of the back end, the silence would be too long. */
    @Test
    void idleSessionStaysProved() {
        Waiting.forMono(backend.ping());
        Waiting.pass(SESSION.multipliedBy(8).dividedBy(10));
        LockClaim claim = claim("idle");
        assertThat(lease(claim)).isPositive();
        Waiting.forMono(backend.release(claim));
    }

    @Test
    void sessionThatWasSilentForTooLongGrantsNothingUntilItIsProvedAgain() {
        Waiting.forMono(backend.ping());
        clock.putForward(SESSION);
        LockClaim claim = claim("silent");
        assertThatThrownBy(() -> Waiting.forMono(backend.tryAcquire(claim)))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isTrue())
                .hasMessageContaining("'silent'")
                .hasMessageContaining("was silent for so long");
        assertThat(store.claims("/proof/holdfast")).as("its place in the queue").hasSize(1);
        LockAttempt later = Waiting.forMono(
                backend.tryAcquire(claim.withAttempt(2)).retryWhen(Retry.fixedDelay(100, Duration.ofMillis(50))));
        assertThat(later).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(store.claims("/proof/holdfast")).hasSize(1);
        Waiting.forMono(backend.release(claim));
    }

    @Test
    void renewalAfterALongSilenceIsUnknown() {
        LockClaim claim = claim("renewal");
        Duration unused = lease(claim);
        clock.putForward(SESSION);
        assertThatThrownBy(() -> Waiting.forMono(backend.renew(claim)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("was silent for so long");
        Waiting.forMono(backend.release(claim));
    }
}
