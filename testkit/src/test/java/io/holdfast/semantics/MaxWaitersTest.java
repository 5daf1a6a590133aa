package io.holdfast.semantics;

import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockQueueFullException;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A client with maxWaiters refuses further waiters, and passes on the limit of a back end unchanged. */
class MaxWaitersTest {

    @RegisterExtension
    final World world = new World();

    private LockClient limited(int limit) {
        return world.client(builder -> builder.maxWaiters(limit));
    }

    @Test
    void anAcquisitionBeyondTheLimitIsRefusedBeforeAnythingIsSent() {
        LockClient client = limited(2);
        LockLease rival = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> first =
                world.subscribe(client.lock(World.NAME).acquire());
        TestSubscriber<LockLease> second =
                world.subscribe(client.lock(World.NAME).acquire());
        int sent = world.on(Operation.TRY_ACQUIRE).calls();

        assertThat(world.subscribe(client.lock("another").acquire()).expectTerminalError())
                .isInstanceOfSatisfying(LockQueueFullException.class, full -> {
                    assertThat(full.limit()).isEqualTo(2);
                    assertThat(full.lockName()).isEqualTo("another");
                    assertThat(full).hasMessageContainingAll("'another'", "maxWaiters", "which is 2");
                });
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(sent);

        world.subscribe(rival.release());
        assertThat(world.granted(client.lock("another").acquire()).isValid()).isTrue();
        first.cancel();
        second.cancel();
        world.subscribe(client.close());
    }

    @Test
    void endedAcquisitionsDoNotCount() {
        LockClient client = limited(1);
        world.granted(client.lock("granted").acquire());
        LockLease rival = world.granted(world.rivalLock().acquire());
        world.subscribe(client.lock(World.NAME).acquire()).cancel();
        world.pass(Duration.ZERO);
        LockOptions brief = LockOptions.builder()
                .waitTimeout(Duration.ofSeconds(1))
                .leaseDuration(World.LEASE)
                .build();
        TestSubscriber<LockLease> timedOut =
                world.subscribe(client.lock(World.NAME).with(brief).acquire());
        world.pass(Duration.ofSeconds(1));
        assertThat(timedOut.isTerminatedError()).isTrue();

        assertThat(world.granted(client.lock("free").acquire()).isValid()).isTrue();
        world.subscribe(rival.release());
        world.subscribe(client.close());
    }

    @Test
    void anAcquisitionThatFailedDoesNotCountWhenItIsRepeatedAtOnce() {
        LockClient client = limited(1);
        world.on(Operation.TRY_ACQUIRE).next(Fault.refused());

        ReactiveLock lock = client.lock("free");
        assertThat(world.granted(lock.acquire().onErrorResume(failure -> lock.acquire()))
                        .isValid())
                .isTrue();

        world.subscribe(client.close());
    }

    @Test
    void aCancelledAcquisitionCountsUntilItsRequestIsAnsweredOrTimesOut() {
        LockClient client = limited(1);
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostReply().silently());
        world.subscribe(client.lock("lost").acquire()).cancel();

        assertThat(world.subscribe(client.lock("free").acquire()).expectTerminalError())
                .isInstanceOf(LockQueueFullException.class);
        world.pass(OPERATION_TIMEOUT);
        assertThat(world.granted(client.lock("free").acquire()).isValid()).isTrue();
        world.subscribe(client.close());
    }

    @Test
    void acquisitionsThatNeverWaitAreNotLimited() {
        LockClient client = limited(1);
        LockLease rival = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiting =
                world.subscribe(client.lock(World.NAME).acquire());

        LockLease taken = world.granted(client.lock("a").tryAcquire());
        assertThat(taken.isValid()).isTrue();
        assertThat(world.subscribe(client.lock(World.NAME).tryAcquire()).isTerminatedComplete())
                .isTrue();

        waiting.cancel();
        world.subscribe(rival.release());
        world.subscribe(client.close());
    }

    @Test
    void theLimitOfTheBackEndIsPassedOnAndLeavesNothing() {
        LockQueueFullException full = new LockQueueFullException(World.NAME, 7, "seven wait already");
        LockBackend refusing = new Refusing(world.store, full);
        LockClient client = LockClient.builder(refusing)
                .timer(world.clock)
                .closeBackend(false)
                .build();
        LockLease rival = world.granted(world.rivalLock().acquire());

        assertThat(world.subscribe(client.lock(World.NAME).acquire()).expectTerminalError())
                .isSameAs(full);
        assertThat(world.subscribe(client.lock(World.NAME).tryAcquire()).expectTerminalError())
                .isSameAs(full);

        world.subscribe(rival.release());
        world.subscribe(client.close());
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void anAcquisitionThatTimedOutDuringItsRequestDoesNotCount() {
        LockClient client = limited(1);
        LockOptions brief =
                LockOptions.builder().waitTimeout(Duration.ofSeconds(1)).build();
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostReply().silently());

        TestSubscriber<LockLease> result = world.subscribe(client.lock(World.NAME)
                .with(brief)
                .acquire()
                .onErrorResume(
                        LockTimeoutException.class, over -> client.lock("free").acquire()));
        world.pass(Duration.ofSeconds(1));

        assertThat(world.only(result).lockName()).isEqualTo("free");
        world.subscribe(client.close());
    }

    @Test
    void anAcquisitionWithAnUnreadableAnswerDoesNotCountWhenItIsRepeatedAtOnce() {
        AtomicBoolean isReadable = new AtomicBoolean();
        LockBackend odd = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return world.store;
            }

            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                return isReadable.getAndSet(true)
                        ? world.store.tryAcquire(claim)
                        : Mono.just(new LockAttempt.Acquired(1, null));
            }
        };
        LockClient client = LockClient.builder(odd)
                .timer(world.clock)
                .closeBackend(false)
                .maxWaiters(1)
                .build();
        ReactiveLock lock = client.lock(World.NAME);

        LockLease lease =
                world.granted(lock.acquire().onErrorResume(LockBackendException.class, unreadable -> lock.acquire()));

        assertThat(lease.isValid()).isTrue();
        world.subscribe(client.close());
    }

    @Test
    void anAcquisitionWhoseSubscriberThrowsOnItsLeaseLeavesTheLimitOnce() {
        LockClient client = limited(1);
        client.lock(World.NAME).acquire().subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnNext(LockLease lease) {
                world.subscribe(lease.release());
                throw new StackOverflowError("thrown by a subscriber");
            }

            @Override
            protected void hookOnError(Throwable error) {}
        });
        world.pass(OPERATION_TIMEOUT);
        LockLease rival = world.granted(world.rivalLock().acquire());

        TestSubscriber<LockLease> waiting =
                world.subscribe(client.lock(World.NAME).acquire());

        assertThat(world.subscribe(client.lock(World.NAME).acquire()).expectTerminalError())
                .isInstanceOf(LockQueueFullException.class);
        waiting.cancel();
        world.subscribe(rival.release());
        world.subscribe(client.close());
    }

    @Test
    void aLimitOfZeroIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.builder(world.store).maxWaiters(0))
                .withMessageContaining("maxWaiters must be at least 1, was 0");
    }

    private record Refusing(LockBackend delegate, LockQueueFullException full) implements ForwardingLockBackend {

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.error(full);
        }
    }
}
