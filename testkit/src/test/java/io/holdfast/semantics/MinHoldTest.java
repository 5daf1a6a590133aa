package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.MOMENT;
import static io.holdfast.semantics.World.NAME;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LocalHandOver;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveLock;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;
import reactor.util.context.Context;

/** The server keeps a lock for its least hold time, even if the work ends or the client dies. */
class MinHoldTest {

    /** Shorter than the lease. */
    private static final Duration SHORT = Duration.ofSeconds(10);

    /** Longer than the lease. */
    private static final Duration LONG = Duration.ofMinutes(10);

    @RegisterExtension
    final World world = new World();

    private ReactiveLock lock(Duration least) {
        return world.lock(options -> options.minHoldTime(least));
    }

    /** Stops all requests, like a crash of the process. */
    private void goOffline() {
        for (Operation operation : Operation.values()) {
            world.on(operation).always(Fault.lostRequest());
        }
    }

    private boolean isFree() {
        TestSubscriber<LockLease> attempt = world.subscribe(world.rivalLock().tryAcquire());
        attempt.getReceivedOnNext().forEach(lease -> world.subscribe(lease.release()));
        return !attempt.getReceivedOnNext().isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {10, 600})
    void workThatEndsEarlyKeepsTheLockForTheMinimumAndNoLonger(long seconds) {
        Duration least = Duration.ofSeconds(seconds);
        TestSubscriber<String> result = world.subscribe(lock(least).withLock(Mono.just("done")));
        assertThat(world.only(result)).isEqualTo("done");
        result.expectTerminalSignal();
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);

        world.pass(least.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(MOMENT);
        assertThat(isFree()).isTrue();
    }

    @Test
    void workThatFailsOrIsCancelledKeepsTheLockToo() {
        RuntimeException broken = new IllegalStateException("broken");
        assertThat(world.subscribe(lock(SHORT).withLock(Mono.error(broken))).expectTerminalError())
                .isSameAs(broken);
        world.pass(SHORT.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(MOMENT);

        world.subscribe(lock(SHORT).withLock(Mono.never())).cancel();
        world.pass(SHORT.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(MOMENT);
        assertThat(isFree()).isTrue();
    }

    @Test
    void workThatTakesLongerFreesTheLockAtItsEnd() {
        LockLease lease = world.granted(lock(SHORT).acquire());
        world.pass(SHORT);
        world.subscribe(lease.release());
        assertThat(isFree()).isTrue();
    }

    @Test
    void afterTheMinimumTheUsualLeaseIsRenewed() {
        LockLease lease = world.granted(lock(LONG).acquire());
        assertThat(lease.remaining()).isGreaterThan(LONG);
        world.pass(LONG.multipliedBy(2));
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.remaining()).isLessThan(LEASE);
        world.subscribe(lease.release());
    }

    @Test
    void aKeptLockIsNotAvailableToItsOwnClientEither() {
        world.subscribe(lock(SHORT).withLock(Mono.empty()));
        TestSubscriber<LockLease> empty = world.subscribe(lock(SHORT).tryAcquire());
        assertThat(empty.isTerminatedComplete()).isTrue();
        assertThat(empty.getReceivedOnNext()).isEmpty();
        world.pass(SHORT);
    }

    @Test
    void aWaiterGetsTheLockAsSoonAsTheMinimumIsOver() {
        LockLease held = world.granted(lock(SHORT).acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.rivalLock().acquire());
        world.subscribe(held.release());
        world.pass(SHORT.minus(MOMENT));
        assertThat(waiter.getReceivedOnNext()).isEmpty();
        world.pass(MOMENT);
        world.subscribe(world.only(waiter).release());
    }

    @Test
    void theStoreKeepsAndFreesTheLockWhenTheClientIsClosedEarly() {
        LockClient closing = world.client(builder -> builder);
        TestSubscriber<Object> job = world.subscribe(closing.lock(NAME)
                .with(LockOptions.builder().minHoldTime(SHORT).build())
                .withLock(Mono.never()));
        world.subscribe(closing.close()).expectTerminalSignal();
        assertThat(job.expectTerminalError()).isInstanceOf(LockLostException.class);

        world.pass(SHORT.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(OPERATION_TIMEOUT);
        assertThat(isFree()).isTrue();
    }

    @Test
    void theStoreKeepsTheLockWhenTheClientCrashes() {
        LockClient crashing = world.client(builder -> builder);
        LockLease lease = world.granted(crashing.lock(NAME)
                .with(LockOptions.builder().minHoldTime(LONG).build())
                .acquire());
        goOffline();
        world.pass(LONG.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(LONG.dividedBy(90).plus(OPERATION_TIMEOUT));
        assertThat(lease.isValid()).isFalse();
        assertThat(isFree()).isTrue();
        world.faulty.heal();
        world.subscribe(crashing.close());
    }

    @Test
    void aLeaseWithoutRenewalsThatIsLostKeepsTheLock() {
        LockLease lease =
                world.granted(world.lock(options -> options.minHoldTime(LONG).autoRenew(false))
                        .acquire());
        world.pass(LONG.minus(MOMENT));
        assertThat(lease.isValid()).isTrue();
        assertThat(isFree()).isFalse();
        world.pass(LONG);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void aReleaseThatFailsIsSentAgainAndCompletesWhenTheStoreHasConfirmed() {
        LockLease lease = world.granted(lock(SHORT).acquire());
        world.on(Operation.RENEW).next(Fault.lostRequest());
        TestSubscriber<Void> release = world.subscribe(lease.release());
        assertThat(release.isTerminated()).isFalse();
        world.pass(OPERATION_TIMEOUT);
        assertThat(release.isTerminatedComplete()).isTrue();
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);
        world.pass(SHORT.minus(OPERATION_TIMEOUT).minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(MOMENT);
        assertThat(isFree()).isTrue();
    }

    @Test
    void aReleaseThatIsNotAnsweredLetsTheLockEndLater() {
        LockLease lease = world.granted(lock(SHORT).acquire());
        world.on(Operation.RENEW).always(Fault.lostReply());
        TestSubscriber<Void> release = world.subscribe(lease.release());
        world.pass(OPERATION_TIMEOUT);
        assertThat(release.isTerminatedComplete()).isTrue();
        world.pass(SHORT.minus(OPERATION_TIMEOUT).minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(OPERATION_TIMEOUT.plusSeconds(2));
        assertThat(isFree()).isTrue();
    }

    @Test
    void aReleaseDetectsThatTheLockWasLostBefore() {
        LockLease lease = world.granted(lock(SHORT).acquire());
        world.takeAway(NAME);
        assertThat(world.subscribe(lease.release()).expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void aPushedGrantIsRenewedBeforeItIsHandedOut() {
        LockLease held = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(lock(LONG).acquire());
        world.subscribe(held.release());
        assertThat(world.only(waiter).remaining()).isGreaterThan(LONG);
        goOffline();
        world.pass(LONG.minus(MOMENT));
        assertThat(isFree()).isFalse();
    }

    @Test
    void aLeaseThatWasNeverHandedOutIsFreedAtOnce() {
        for (int instant = 0; instant < 1_000; instant++) {
            world.on(Operation.TRY_ACQUIRE)
                    .always(Fault.delayedReply(Duration.ofMillis(new Random(instant).nextInt(5))));
            AtomicBoolean begun = new AtomicBoolean();
            TestSubscriber<LockLease> work =
                    world.subscribe(lock(LONG).withLock(lease -> Mono.fromRunnable(() -> begun.set(true))));
            world.pass(Duration.ofMillis(instant % 5));
            work.cancel();
            world.pass(Duration.ofMillis(10));
            world.on(Operation.TRY_ACQUIRE).none();
            if (begun.get()) {
                assertThat(isFree()).as("instant %d", instant).isFalse();
                world.pass(LONG);
            }
            assertThat(isFree()).as("instant %d", instant).isTrue();
        }
    }

    @Test
    void ofSeveralLocksNoneIsKeptWhenOneIsNotAvailable() {
        LockLease held = world.granted(world.rival.lock("b").acquire());
        ReactiveLock[] locks = {world.client.lock("a"), world.client.lock("b")};
        LockOptions options = LockOptions.builder().minHoldTime(LONG).build();
        TestSubscriber<MultiLease> none =
                world.subscribe(world.client.all(locks).with(options).tryAcquire());
        assertThat(none.isTerminatedComplete()).isTrue();
        assertThat(world.subscribe(world.rival.lock("a").tryAcquire()).getReceivedOnNext())
                .hasSize(1);
        world.subscribe(held.release());
    }

    @Test
    void aNestedLeaseEndsAtOnceAndTheOutermostIsKept() {
        TestSubscriber<String> nested =
                world.subscribe(lock(SHORT).withLock(outer -> lock(LONG).withLock(Mono.just("done"))));
        assertThat(world.only(nested)).isEqualTo("done");
        world.pass(SHORT.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(MOMENT);
        assertThat(isFree()).isTrue();
    }

    @Test
    void aKeptReadLockLetsReadersInAndNoWriter() {
        LockOptions options = LockOptions.builder().minHoldTime(SHORT).build();
        world.subscribe(
                world.client.readWriteLock(NAME).readLock().with(options).withLock(Mono.empty()));
        TestSubscriber<LockLease> writer =
                world.subscribe(world.rival.readWriteLock(NAME).writeLock().tryAcquire());
        assertThat(writer.getReceivedOnNext()).isEmpty();
        LockLease reader =
                world.granted(world.rival.readWriteLock(NAME).readLock().tryAcquire());
        world.subscribe(reader.release());
        world.pass(SHORT);
    }

    @Test
    void aTurnHandsNothingOverWithinTheMinimum() {
        VirtualTimeScheduler clock = world.clock;
        LockClient process = LockClient.builder(
                        LocalHandOver.builder(world.store).timer(clock).build())
                .timer(clock)
                .closeBackend(false)
                .build();
        ReactiveLock lock =
                process.lock(NAME).with(LockOptions.builder().minHoldTime(SHORT).build());
        TestSubscriber<String> first = world.subscribe(lock.withLock(Mono.just("first")));
        TestSubscriber<String> second = world.subscribe(lock.withLock(Mono.just("second")));
        TestSubscriber<String> third = world.subscribe(lock.withLock(Mono.just("third")));
        assertThat(world.only(first)).isEqualTo("first");
        world.pass(SHORT.minus(MOMENT));
        assertThat(second.getReceivedOnNext()).isEmpty();
        world.pass(MOMENT);
        assertThat(world.only(second)).isEqualTo("second");
        world.pass(SHORT.minus(MOMENT));
        assertThat(third.getReceivedOnNext()).isEmpty();
        world.pass(MOMENT.multipliedBy(2));
        assertThat(world.only(third)).isEqualTo("third");
        world.pass(SHORT);
        world.subscribe(process.close());
    }

    @Test
    void aTurnRenewsWithTheUsualLeaseAfterTheMinimum() {
        LockClient process = LockClient.builder(
                        LocalHandOver.builder(world.faulty).timer(world.clock).build())
                .timer(world.clock)
                .closeBackend(false)
                .build();
        world.granted(process.lock(NAME)
                .with(LockOptions.builder().minHoldTime(LONG).build())
                .acquire());
        world.pass(LONG.plus(LEASE));
        goOffline();
        world.pass(LEASE.plus(MOMENT));
        assertThat(isFree()).isTrue();
        world.faulty.heal();
        world.subscribe(process.close());
    }

    @Test
    void aBackEndThatCannotKeepItRefusesWhenTheLockIsMade() {
        InMemoryLockBackend store = world.store;
        LockBackend sessions = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return store;
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(LockFeature.FIFO);
            }
        };
        LockOptions options = LockOptions.builder().minHoldTime(SHORT).build();
        LockClient client = LockClient.builder(sessions)
                .timer(world.clock)
                .closeBackend(false)
                .build();
        assertThatThrownBy(() -> client.lock(NAME).with(options))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage(
                        "back end memory cannot keep a minHoldTime, since its locks end with a session, it has only [FIFO]");
        LockClient.Builder builder = LockClient.builder(sessions).options(options);
        assertThatThrownBy(builder::build).isInstanceOf(UnsupportedOperationException.class);
        world.subscribe(client.close());
    }

    /** With {@code deliverOn}, the client ends the lease of the first lock before the acquisition of both learns of the close. */
    @Test
    void theFirstOfSeveralLocksIsFreeAtOnceWhenTheClientClosesWhileItWaitsForTheSecond() {
        Queue<Runnable> signals = new ConcurrentLinkedQueue<>();
        LockLease second = world.granted(world.rival.lock("stock/43").acquire());
        LockClient closing = world.client(builder -> builder.deliverOn(Schedulers.fromExecutor(signals::add)));
        TestSubscriber<MultiLease> waits = world.subscribe(closing.all(closing.lock(NAME), closing.lock("stock/43"))
                .with(LockOptions.builder().minHoldTime(LONG).build())
                .acquire());
        runAll(signals);
        assertThat(isFree()).isFalse();

        world.subscribe(closing.close());
        runAll(signals);

        assertThat(waits.isTerminatedError()).isTrue();
        assertThat(isFree()).isTrue();
        world.subscribe(second.release());
    }

    private void runAll(Queue<Runnable> signals) {
        world.pass(Duration.ZERO);
        for (Runnable next = signals.poll(); next != null; next = signals.poll()) {
            next.run();
            world.pass(MOMENT);
        }
    }

    /** The server got the request that keeps the lock, and has ended the claim with its least hold time. */
    @Test
    void aReleaseWithALostReplyAndAnOutageUntilTheMinimumIsOverIsNoLoss() {
        LockLease lease = world.granted(lock(SHORT).acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        world.on(Operation.RENEW).next(Fault.lostReply().silently());
        TestSubscriber<Void> release = world.subscribe(lease.release());
        world.pass(MOMENT);
        world.on(Operation.RENEW).always(Fault.lostRequest());

        world.pass(SHORT.plusSeconds(5));

        assertThat(release.isTerminatedComplete()).isTrue();
        assertThat(loss.getReceivedOnNext()).isEmpty();
        assertThat(world.events(LockEvent.Lost.class)).isEmpty();
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);
        world.on(Operation.RENEW).none();
    }

    /** The second request that keeps the lock is sent in time, and reaches the server when the least hold time is over. */
    @Test
    void aRequestThatKeepsTheLockAndArrivesTooLateIsNoLoss() {
        LockLease lease = world.granted(lock(SHORT).acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        world.pass(SHORT.minus(OPERATION_TIMEOUT));
        world.on(Operation.RENEW).next(Fault.lostReply(), Fault.delayedRequest(OPERATION_TIMEOUT.minus(MOMENT)));

        TestSubscriber<Void> release = world.subscribe(lease.release());
        world.pass(SHORT);

        assertThat(release.isTerminatedComplete()).isTrue();
        assertThat(loss.getReceivedOnNext()).isEmpty();
        assertThat(world.events(LockEvent.Lost.class)).isEmpty();
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);
    }

    @Test
    void workThatDidNotBeginKeepsNothing() {
        AtomicBoolean hasBegun = new AtomicBoolean();
        LeavingBeforeTheWork leaving = new LeavingBeforeTheWork();

        lock(LONG).withLock(Mono.<String>fromRunnable(() -> hasBegun.set(true))).subscribe(leaving);
        world.pass(MOMENT);

        assertThat(leaving.hasLeft).isTrue();
        assertThat(hasBegun).isFalse();
        assertThat(isFree()).isTrue();
    }

    /** Cancels after the grant, while the client reads the context for the work: as another thread may. */
    private static final class LeavingBeforeTheWork implements CoreSubscriber<String> {

        private Subscription subscription = Operators.emptySubscription();
        private boolean hasLeft;

        @Override
        public Context currentContext() {
            boolean isForTheWork = Arrays.stream(new Throwable().getStackTrace())
                    .anyMatch(at -> at.getClassName().endsWith(".Guard")
                            && at.getMethodName().equals("start"));
            if (isForTheWork && !hasLeft) {
                hasLeft = true;
                subscription.cancel();
            }
            return Context.empty();
        }

        @Override
        public void onSubscribe(Subscription given) {
            subscription = given;
            given.request(1);
        }

        @Override
        public void onNext(String result) {}

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onComplete() {}
    }

    @Test
    void theBackEndChecksTheLeaseThatTheMinimumNeeds() {
        LockBackend strict = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return world.store;
            }

            @Override
            public void checkLease(Duration lease) {
                if (lease.compareTo(Duration.ofMinutes(1)) > 0) {
                    throw new IllegalArgumentException("at most a minute, was " + lease);
                }
            }
        };
        LockClient client = LockClient.builder(strict)
                .timer(world.clock)
                .closeBackend(false)
                .build();
        LockOptions options = LockOptions.builder().minHoldTime(LONG).build();
        assertThatThrownBy(() -> client.lock(NAME).with(options)).hasMessageContaining("at most a minute, was PT10M8");
        world.subscribe(client.close());
    }
}
