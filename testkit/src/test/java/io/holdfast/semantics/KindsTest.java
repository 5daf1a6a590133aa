package io.holdfast.semantics;

import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

class KindsTest {

    @RegisterExtension
    final World world = new World();

    @Test
    void aMutexAReadWriteLockAndASemaphoreOfOneNameAreThreeLocks() {
        assertThat(world.granted(world.client.lock(NAME).tryAcquire()).isValid())
                .isTrue();
        assertThat(world.granted(world.client.readWriteLock(NAME).writeLock().tryAcquire())
                        .isValid())
                .isTrue();
        assertThat(world.granted(world.client.semaphore(NAME, 1).tryAcquire()).isValid())
                .isTrue();
    }

    @Test
    void readersShareAndEachHasItsOwnRisingToken() {
        ReactiveLock read = world.client.readWriteLock(NAME).readLock();
        LockLease first = world.granted(read.acquire());
        LockLease second = world.granted(read.acquire());

        assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
    }

    @Test
    void aWaitingWriterHoldsBackLaterReadersAndThenHandsOverToAllOfThem() {
        ReactiveReadWriteLock lock = world.client.readWriteLock(NAME);
        LockLease reader = world.granted(lock.readLock().acquire());
        TestSubscriber<LockLease> writer = world.subscribe(lock.writeLock().acquire());
        TestSubscriber<LockLease> later = world.subscribe(lock.readLock().acquire());
        TestSubscriber<LockLease> latest = world.subscribe(lock.readLock().acquire());
        assertThat(later.getReceivedOnNext()).isEmpty();

        world.subscribe(reader.release());
        LockLease writing = world.only(writer);
        assertThat(later.getReceivedOnNext()).isEmpty();
        world.subscribe(writing.release());

        assertThat(world.only(later).fencingToken()).isGreaterThan(writing.fencingToken());
        assertThat(world.only(latest).isValid()).isTrue();
    }

    @Test
    void aSemaphoreClaimIsJudgedByItsOwnPermits() {
        world.granted(world.client.semaphore(NAME, 2).acquire());
        world.granted(world.client.semaphore(NAME, 2).acquire());
        TestSubscriber<LockLease> third =
                world.subscribe(world.client.semaphore(NAME, 2).tryAcquire());

        assertThat(third.isTerminatedComplete()).isTrue();
        assertThat(third.getReceivedOnNext()).isEmpty();
        assertThat(world.granted(world.client.semaphore(NAME, 3).tryAcquire()).isValid())
                .isTrue();
    }

    @Test
    void anUnsupportedKindIsRefusedWhenTheLockIsMade() {
        LockClient plain = LockClient.create(new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return world.store;
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(LockFeature.FIFO);
            }
        });

        assertThatThrownBy(() -> plain.readWriteLock(NAME)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> plain.semaphore(NAME, 3))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("memory");
    }

    @Test
    void badInputIsRefusedNamingTheOptionTheValueAndTheRule() {
        assertThatThrownBy(() -> world.client.lock(" ")).hasMessageContainingAll("lock name", "blank");
        assertThatThrownBy(() -> world.client.lock("x".repeat(513))).hasMessageContainingAll("512", "513");
        assertThatThrownBy(() -> world.client.semaphore(NAME, 0)).hasMessageContainingAll("permits", "1", "0");
        assertThatThrownBy(() -> world.client(b -> b.operationTimeout(Duration.ofSeconds(11))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("operationTimeout is PT11S", "leaseDuration is PT30S");
        LockClient client = world.client(b -> b.operationTimeout(Duration.ofSeconds(10)));
        LockOptions shortLease =
                LockOptions.builder().leaseDuration(Duration.ofSeconds(29)).build();
        assertThatThrownBy(() -> client.lock(NAME).with(shortLease))
                .hasMessageContainingAll("operationTimeout is PT10S", "leaseDuration is PT29S");
    }

    @Test
    void oneLockObjectServesAnyNumberOfPipelines() {
        ReactiveLock lock = world.lock();
        TestSubscriber<Long> sum = world.subscribe(Flux.range(1, 100)
                .flatMap(n -> lock.withLock(Mono.just(n)), 100)
                .count());
        world.pass(Duration.ofSeconds(1));

        assertThat(sum.getReceivedOnNext()).containsExactly(100L);
    }
}
