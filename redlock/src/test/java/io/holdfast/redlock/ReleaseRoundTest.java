package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.redlock.internal.claim.ClaimState;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

class ReleaseRoundTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();

    private Ownership release(LockClaim claim) {
        return five.answer(client.backend.release(claim));
    }

    @Test
    void releaseIsAnsweredByTheMajorityAndReachesTheOthersInTheBackground() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.roundTrip(1, Duration.ofMillis(200));
        long begin = five.millis();
        assertThat(release(claim)).isEqualTo(Ownership.HELD);
        assertThat(five.millis() - begin).isZero();
        assertThat(five.holding()).containsExactly(1);
        five.passMillis(101);
        assertThat(five.holding()).isEmpty();
        five.passMillis(100);
        assertThat(release(claim)).isEqualTo(Ownership.NOT_HELD);
    }

    /**
     * A withdrawn attempt makes its master remember the release for half a minute, and the lock's next cycles there
     * cost more.
     */
    @Test
    void theReleaseFollowsAnUnansweredAttemptAndDoesNotWithdrawIt() {
        AtomicInteger withdrawn = new AtomicInteger();
        List<Integer> attempts = new ArrayList<>();
        List<LockBackend> members = IntStream.range(0, 5)
                .<LockBackend>mapToObj(i -> new ForwardingLockBackend() {
                    @Override
                    public LockBackend delegate() {
                        return five.masters.get(i);
                    }

                    @Override
                    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                        return i < 3
                                ? ForwardingLockBackend.super.tryAcquire(claim)
                                : Mono.<LockAttempt>never().doOnCancel(withdrawn::incrementAndGet);
                    }

                    @Override
                    public Mono<Ownership> release(LockClaim claim) {
                        attempts.add(claim.attempt());
                        return ForwardingLockBackend.super.release(claim);
                    }
                })
                .toList();
        RedlockBackend backend = RedlockBackend.builder(members)
                .timer(five.time)
                .closeMasters(false)
                .build();
        five.subscribe(backend.ping());
        LockClaim claim = Five.claim();
        five.answer(backend.tryAcquire(claim));
        assertThat(five.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        assertThat(withdrawn).hasValue(0);
        assertThat(attempts).containsExactly(1, 1, 1, 1, 1);
        five.pass(Five.LIMIT);
        assertThat(withdrawn).as("when their time limit has passed").hasValue(2);
        five.subscribe(backend.close());
    }

    @Test
    void masterThatIsBackSoonIsReleasedInTheBackground() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.down(2);
        assertThat(release(claim)).isEqualTo(Ownership.HELD);
        assertThat(five.holding()).containsExactly(2);
        client.up();
        five.pass(Duration.ofSeconds(1));
        assertThat(five.holding()).isEmpty();
        assertThat(client.backend.releaseCount()).isZero();
    }

    @Test
    void releaseAfterALossOnAMajoritySaysNotHeld() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        five.masters.subList(0, 3).forEach(it -> it.loseData(Duration.ZERO));
        assertThat(release(claim)).isEqualTo(Ownership.NOT_HELD);
        assertThat(five.holding()).isEmpty();
    }

    @Test
    void undecidableReleaseIsUnknownAndSettledByTheNextOne() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        five.masters.get(2).loseData(Duration.ZERO);
        client.down(4, 5);
        assertThatThrownBy(() -> release(claim))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("RELEASE of lock 'stock/42': UNKNOWN in 0 ms, 2 of 5 said yes");
        assertThat(release(claim)).isEqualTo(Ownership.NOT_HELD);
        client.up();
        five.pass(Duration.ofSeconds(5));
    }

    @Test
    void singleVotesOfAnAttemptThatWasNotWonAreNoLock() {
        client.down(1, 2);
        client.wires.get(2).delayNanos = () -> 1_000_000;
        client.wires.get(3).delayNanos = () -> 1_000_000;
        LockClaim claim = Five.claim();
        five.subscribe(client.backend.tryAcquire(claim));
        assertThat(five.holding()).containsExactly(5);
        assertThat(release(claim)).isEqualTo(Ownership.NOT_HELD);
        five.pass(Duration.ofSeconds(1));
        assertThat(five.holding()).isEmpty();
    }

    @Test
    void engineReadsAnUndecidableReleaseAsReleased() {
        LockLease lease = five.answer(client.locks.lock(Five.NAME).acquire());
        five.masters.get(2).loseData(Duration.ZERO);
        client.down(4, 5);
        TestSubscriber<Void> released = five.subscribe(lease.release());
        five.passMillis(200);
        assertThat(released.isTerminatedComplete()).isTrue();
        client.up();
        five.pass(Duration.ofSeconds(5));
    }

    @Test
    void attemptThatComesAfterTheReleaseTakesNothing() {
        client.roundTrip(4, Duration.ofMillis(250));
        client.roundTrip(5, Duration.ofMillis(250));
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.roundTrip(4, Duration.ZERO);
        client.roundTrip(5, Duration.ZERO);
        assertThat(release(claim)).isEqualTo(Ownership.HELD);
        five.pass(Duration.ofSeconds(1));
        assertThat(five.holding()).isEmpty();
    }

    @Test
    void aCancellationDoesNotStopTheRelease() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.wires.forEach(it -> it.delayNanos = () -> 1_000_000);
        client.backend.release(claim).subscribe().dispose();
        five.passMillis(10);
        assertThat(five.holding()).isEmpty();
    }

    @Test
    void closingWaitsForReleasesInTheBackground() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.roundTrip(1, Duration.ofMillis(200));
        client.hung(2);
        assertThat(release(claim)).isEqualTo(Ownership.HELD);
        five.passMillis(301);
        TestSubscriber<Void> closed = five.subscribe(client.backend.close());
        assertThat(closed.isTerminatedComplete())
                .as("the hung master gets another request")
                .isFalse();
        five.pass(Duration.ofSeconds(2));
        assertThat(closed.isTerminatedComplete()).isTrue();
        five.pass(Five.LEASE);
    }

    @Test
    void pingNeedsAMajority() {
        client.down(1);
        client.hung(2);
        assertThat(five.subscribe(client.backend.ping()).isTerminatedComplete()).isTrue();
        client.down(3);
        TestSubscriber<Void> ping = five.subscribe(client.backend.ping());
        five.pass(Duration.ofSeconds(1));
        assertThat(ping.expectTerminalError())
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("3 of 5 masters failed")
                .hasMessageContaining("two: no answer within 1000 ms");
    }

    /** Two are down, one has undone its vote already, two have not: together, any outcome was possible. */
    @Test
    void claimCancelledInFlightIsNotHeldThoughItsVotesAreStillBeingUndone() {
        client.down(1, 2);
        client.roundTrip(4, Duration.ofMillis(50));
        client.roundTrip(5, Duration.ofMillis(50));
        LockClaim claim = Five.claim();
        Disposable attempt = client.backend.tryAcquire(claim).subscribe();
        five.passMillis(30);
        assertThat(five.holding()).as("granted, not all answers have arrived").containsExactly(3, 4, 5);
        attempt.dispose();
        assertThat(five.answer(client.backend.release(claim))).isEqualTo(Ownership.NOT_HELD);
        five.passMillis(100);
        assertThat(five.holding()).isEmpty();
        assertThat(client.backend.claimCount()).isZero();
    }

    /** A hand-over inside the process sends such attempts: it wants tokens for the next owners. */
    @Test
    void releaseBesideAnotherAttemptOfTheHolderSaysHeld() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        for (int number = 1; number <= 5; number++) {
            client.roundTrip(number, Duration.ofMillis(10));
        }
        five.subscribe(client.backend.tryAcquire(claim.withAttempt(2).withTokenFloor(1L << 51)));
        five.passMillis(6);
        client.up();
        client.wires.get(0).fateOfRequest = () -> {
            client.wires.get(0).fateOfRequest = () -> Wire.Fate.ARRIVES;
            five.passMillis(10); // another thread handles the answers to the attempt while this one sends the release
            return Wire.Fate.ARRIVES;
        };
        assertThat(release(claim.withAttempt(2))).isEqualTo(Ownership.HELD);
        assertThat(five.holding()).isEmpty();
        assertThat(client.backend.claimCount()).isZero();
    }

    @Test
    void cancelledAttemptOfTheHolderLeavesItTheLock() {
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        for (int number = 1; number <= 5; number++) {
            client.roundTrip(number, Duration.ofMillis(10));
        }
        Disposable attempt = client.backend.tryAcquire(claim.withAttempt(2)).subscribe();
        five.passMillis(6);
        attempt.dispose();
        five.passMillis(50);
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        client.up();
        assertThat(five.answer(client.backend.renew(claim.withAttempt(2)))).isInstanceOf(Renewal.Held.class);
        assertThat(release(claim.withAttempt(2))).isEqualTo(Ownership.HELD);
    }

    @Test
    void releaseBesideARestorationSaysHeld() {
        client.down(4, 5);
        LockClaim claim = Five.claim();
        client.mustAcquire(claim);
        client.up();
        client.roundTrip(4, Duration.ofMillis(10));
        client.roundTrip(5, Duration.ofMillis(10));
        five.answer(client.backend.renew(claim));
        five.passMillis(16);
        client.up();
        client.down(1);
        client.wires.get(1).fateOfRequest = () -> {
            client.wires.get(1).fateOfRequest = () -> Wire.Fate.ARRIVES;
            five.passMillis(10); // another thread handles the answers to the restoration
            return Wire.Fate.ARRIVES;
        };
        assertThat(five.holding()).containsExactly(1, 2, 3, 4, 5);
        assertThat(release(claim)).isEqualTo(Ownership.HELD);
        client.up();
        five.pass(Duration.ofSeconds(1));
        assertThat(five.holding()).isEmpty();
    }

    @Test
    void aMajorityThatAnswersAfterTheReleaseHoldsNothing() {
        ClaimState state = new ClaimState("one", 5, 0);
        var unused = state.close();
        assertThat(state.held(7, 1_000)).isFalse();
        assertThat(state.isHeld()).isFalse();
    }
}
