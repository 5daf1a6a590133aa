package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveSemaphore;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** Leases of a semaphore that take several permits. */
class ManyPermitsTest {

    @RegisterExtension
    final World world = new World();

    private ReactiveSemaphore pool() {
        return world.client.semaphore(NAME, 5);
    }

    /** Returns how many permits the rival can take now. */
    private int free() {
        for (int permits = 5; permits > 0; permits--) {
            TestSubscriber<LockLease> attempt = world.subscribe(
                    world.rival.semaphore(NAME, 5).permits(permits).tryAcquire());
            if (!attempt.getReceivedOnNext().isEmpty()) {
                world.subscribe(world.only(attempt).release());
                return permits;
            }
        }
        return 0;
    }

    @Test
    void aLeaseTakesAllItsPermitsAndReleasesAll() {
        LockLease lease = world.granted(pool().permits(3).acquire());
        assertThat(free()).isEqualTo(2);
        assertThat(lease.fencingToken()).isPositive();
        world.subscribe(lease.release()).expectTerminalSignal();
        assertThat(free()).isEqualTo(5);
    }

    @Test
    void aSemaphoreItselfTakesOnePermit() {
        LockLease lease = world.granted(pool().acquire());
        LockLease other = world.granted(pool().permits(1).acquire());
        assertThat(free()).isEqualTo(3);
        world.subscribe(lease.release());
        world.subscribe(other.release());
    }

    @Test
    void renewalsKeepAllPermits() {
        LockLease lease = world.granted(pool().permits(4).acquire());
        world.pass(LEASE.multipliedBy(5));
        assertThat(lease.isValid()).isTrue();
        assertThat(free()).isOne();
        world.subscribe(lease.release());
    }

    @Test
    void aLeaseThatEndsLosesAllPermitsAtOnce() {
        LockOptions unrenewed = LockOptions.builder().autoRenew(false).build();
        LockLease lease = world.granted(pool().permits(4).with(unrenewed).acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        world.pass(LEASE.plusSeconds(1));
        assertThat(loss.getReceivedOnNext()).hasSize(1);
        assertThat(free()).isEqualTo(5);
    }

    @Test
    void otherOptionsKeepThePermitsAndTheLimit() {
        LockOptions atOnce = LockOptions.builder().waitTimeout(Duration.ZERO).build();
        ReactiveSemaphore impatient = pool().with(atOnce);
        LockLease lease = world.granted(impatient.permits(3).acquire());
        assertThat(world.subscribe(impatient.permits(3).acquire()).expectTerminalError())
                .isInstanceOf(LockTimeoutException.class);
        assertThat(world.subscribe(pool().permits(3).with(atOnce).acquire()).expectTerminalError())
                .isInstanceOf(LockTimeoutException.class);
        LockLease rest = world.granted(impatient.permits(2).acquire());
        world.subscribe(lease.release());
        world.subscribe(rest.release());
    }

    @Test
    void aWaiterForManyPermitsHoldsBackAWaiterForFewAndBothAreServed() {
        LockLease held = world.granted(pool().permits(2).acquire());
        TestSubscriber<LockLease> large = world.subscribe(pool().permits(5).acquire());
        TestSubscriber<LockLease> small = world.subscribe(pool().acquire());
        world.pass(LEASE);
        assertThat(small.getReceivedOnNext()).isEmpty();
        world.subscribe(held.release());
        world.subscribe(world.only(large).release());
        world.subscribe(world.only(small).release());
    }

    @Test
    void aWaiterThatTimesOutLetsTheWaitersBehindItPass() {
        LockLease held = world.granted(pool().permits(2).acquire());
        LockOptions aSecond =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(1)).build();
        TestSubscriber<LockLease> large =
                world.subscribe(pool().permits(5).with(aSecond).acquire());
        TestSubscriber<LockLease> small = world.subscribe(pool().acquire());
        world.pass(Duration.ofSeconds(1));
        assertThat(large.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        world.subscribe(world.only(small).release());
        world.subscribe(held.release());
    }

    @Test
    void nestedAcquisitionsTakeTheirOwnPermits() {
        TestSubscriber<Object> work = world.subscribe(
                pool().permits(2).withLock(outer -> pool().permits(2).withLock(inner -> Mono.never())));
        assertThat(free()).isOne();
        work.cancel();
        world.pass(Duration.ZERO);
        assertThat(free()).isEqualTo(5);
    }

    @Test
    void aLeaseThatIsHandedOnKeepsItsPermits() {
        LockLease lease = world.granted(pool().permits(3).acquire());
        String text = world.only(world.subscribe(lease.export()));
        assertThat(free()).isEqualTo(2);
        LockLease adopted = world.granted(world.rival.adopt(text));
        world.pass(LEASE.multipliedBy(2));
        assertThat(free()).isEqualTo(2);
        world.subscribe(adopted.release());
        assertThat(free()).isEqualTo(5);
    }

    @Test
    void permitsOutOfRangeAreRefusedWithBothNumbers() {
        for (int wrong : new int[] {0, -1, 6, Integer.MAX_VALUE}) {
            assertThatThrownBy(() -> pool().permits(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll(NAME, "5", Integer.toString(wrong));
        }
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isZero();
    }

    @Test
    void aBackEndWithOnePermitPerClaimRefusesMoreWhenTheLockIsMade() {
        LockClient plain = LockClient.create(new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return world.store;
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(LockFeature.FIFO, LockFeature.SEMAPHORE);
            }
        });
        ReactiveSemaphore semaphore = plain.semaphore(NAME, 3);
        assertThatThrownBy(() -> semaphore.permits(2))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContainingAll("memory", "2", NAME);
        assertThatThrownBy(() -> semaphore.permits(4)).isInstanceOf(IllegalArgumentException.class);
        assertThat(semaphore.permits(1).name()).isEqualTo(NAME);
    }

    @Test
    void aLockNamesItsPermits() {
        ReactiveLock three = pool().permits(3);
        assertThat(three.toString()).contains(NAME, "3 permits");
        assertThat(pool().toString()).doesNotContain("permits");
    }
}
