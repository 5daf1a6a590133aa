package io.holdfast.semantics;

import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.ClientReport;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockLease;
import io.holdfast.LockQueueFullException;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A back end that grants runs: what a user sees of a lease does not depend on the run that it lives in. */
class RunsTest {

    @RegisterExtension
    final World world = new World();

    private List<TestSubscriber<LockLease>> waiters(int number) {
        return Stream.generate(() -> world.subscribe(world.lock().acquire()))
                .limit(number)
                .toList();
    }

    private void release(TestSubscriber<LockLease> owner) {
        world.subscribe(world.only(owner).release());
    }

    private static boolean waits(TestSubscriber<LockLease> waiter) {
        return waiter.getReceivedOnNext().isEmpty() && !waiter.isTerminated();
    }

    private int requests() {
        return world.on(Operation.TRY_ACQUIRE).calls()
                + world.on(Operation.RENEW).calls()
                + world.on(Operation.RELEASE).calls();
    }

    @Test
    void membersGetTheLockInOrderWithRisingTokensAndWithoutRequests() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = waiters(20);
        world.subscribe(holder.release());
        int before = requests();
        long last = holder.fencingToken();
        for (TestSubscriber<LockLease> waiter : waiters) {
            LockLease lease = world.only(waiter);
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.fencingToken()).isGreaterThan(last);
            last = lease.fencingToken();
            release(waiter);
        }
        assertThat(requests() - before).as("only the end of the run").isEqualTo(1);
        LockLease next = world.granted(world.rivalLock().acquire());
        assertThat(next.fencingToken()).isGreaterThan(last);
        world.subscribe(next.release());
    }

    @Test
    void claimOfAnotherClientBetweenTwoWaitersIsNotOvertaken() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> first = waiters(2);
        TestSubscriber<LockLease> stranger = world.subscribe(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> last = waiters(2);
        world.subscribe(holder.release());
        release(first.get(0));
        assertThat(waits(stranger)).isTrue();
        release(first.get(1));
        assertThat(waits(last.get(0))).isTrue();
        release(stranger);
        release(last.get(0));
        release(last.get(1));
    }

    @Test
    void cancelledMembersArePassedOver() {
        for (int gone = 0; gone < 3; gone++) {
            LockLease holder = world.granted(world.rivalLock().acquire());
            List<TestSubscriber<LockLease>> waiters = new ArrayList<>(waiters(4));
            TestSubscriber<LockLease> stranger =
                    world.subscribe(world.rivalLock().acquire());
            if (gone == 0) {
                waiters.remove(0).cancel();
            }
            world.subscribe(holder.release());
            if (gone > 0) {
                waiters.remove(gone).cancel();
            }
            waiters.forEach(this::release);
            release(stranger);
        }
    }

    @Test
    void runWhoseLastMembersAreCancelledEndsAtOnce() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = waiters(3);
        TestSubscriber<LockLease> stranger = world.subscribe(world.rivalLock().acquire());
        world.subscribe(holder.release());
        waiters.get(1).cancel();
        waiters.get(2).cancel();
        release(waiters.get(0));
        release(stranger);
    }

    /** The signal of the break is lost, so the client learns of it when it ends the run. */
    @Test
    void memberDoesNotBeginWhenTheRunWasBrokenLongAgo() {
        ReactiveLock lock = world.lock(options -> options.autoRenew(false));
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> first = world.subscribe(lock.acquire());
        TestSubscriber<LockLease> second = world.subscribe(lock.acquire());
        TestSubscriber<LockLease> stranger = world.subscribe(world.rivalLock().acquire());
        world.subscribe(holder.release());
        LockLease broken = world.only(first);
        world.faulty.loseSignals(signal -> true);
        breakHold();
        world.pass(Duration.ofMillis(1_500));
        world.subscribe(broken.release());
        world.faulty.heal();
        world.pass(Duration.ofSeconds(11));
        LockLease one = second.getReceivedOnNext().isEmpty() ? world.only(stranger) : world.only(second);
        assertThat(one.fencingToken()).isGreaterThan(broken.fencingToken());
        assertThat(second.getReceivedOnNext().size()
                        + stranger.getReceivedOnNext().size())
                .as("owners at one time")
                .isEqualTo(1);
        world.subscribe(one.release());
        world.pass(Duration.ofSeconds(11));
        release(one == second.getReceivedOnNext().get(0) ? stranger : second);
    }

    private void breakHold() {
        LockInspector inspector = world.store.inspector();
        LockHolder holder = inspector.inspect(NAME).blockFirst().holders().get(0);
        assertThat(inspector.breakHold(NAME, holder).block()).isTrue();
    }

    @Test
    void brokenRunIsALossForItsOwnerAndTheOthersKeepTheirPlaces() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = waiters(3);
        TestSubscriber<LockLease> stranger = world.subscribe(world.rivalLock().acquire());
        world.subscribe(holder.release());
        LockLease broken = world.only(waiters.get(0));
        breakHold();
        world.pass(Duration.ZERO);
        assertThat(broken.isValid()).isFalse();
        assertThat(world.events(LockEvent.Lost.class))
                .extracting(LockEvent.Lost::reason)
                .containsExactly(LossReason.NOT_HELD);
        release(waiters.get(1));
        assertThat(waits(stranger)).isTrue();
        release(waiters.get(2));
        release(stranger);
    }

    /** The back end does not know who the owner is. It gives each member its place back, and grants the lock to the former owner. */
    @Test
    void lockThatIsGrantedToALostOwnerIsGivenBackAtOnce() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> members = waiters(2);
        world.subscribe(holder.release());
        release(members.get(0));
        LockLease owner = world.only(members.get(1));

        breakHold();
        world.subscribe(owner.renew()); // which the back end takes for one of the new grant
        world.pass(Duration.ZERO);

        assertThat(owner.isValid()).isFalse();
        TestSubscriber<LockLease> stranger = world.subscribe(world.rivalLock().acquire());
        world.pass(Duration.ZERO);
        release(stranger);
    }

    @Test
    void memberThatMustNotRenewHasItsWholeLease() {
        ReactiveLock lock = world.lock(options -> options.autoRenew(false));
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> first = world.subscribe(lock.acquire());
        TestSubscriber<LockLease> second = world.subscribe(lock.acquire());
        world.subscribe(holder.release());
        LockLease one = world.only(first);
        world.pass(Duration.ofSeconds(2));
        assertThat(one.remaining()).isGreaterThan(Duration.ofSeconds(25));
        world.pass(Duration.ofSeconds(20));
        release(first);
        LockLease two = world.only(second);
        world.pass(Duration.ofSeconds(2));
        assertThat(two.remaining()).isGreaterThan(Duration.ofSeconds(25));
        release(second);
    }

    @Test
    void ownerThatReleasesAtItsDeadlineLetsTheRestGoOn() {
        ReactiveLock lock = world.lock(options -> options.autoRenew(false));
        LockLease holder = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> first = world.subscribe(lock.acquire());
        TestSubscriber<LockLease> second = world.subscribe(lock.acquire());
        world.subscribe(holder.release());
        LockLease one = world.only(first);
        while (one.isValid()) {
            world.pass(Duration.ofMillis(1));
        }
        world.subscribe(one.release());
        world.pass(World.LEASE);
        assertThat(world.events(LockEvent.ReleaseUnconfirmed.class)).isEmpty();
        assertThat(world.events(LockEvent.WithdrawalUnconfirmed.class)).isEmpty();
        release(second);
    }

    @Test
    void lostEndOfARunIsRepeated() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = waiters(2);
        TestSubscriber<LockLease> stranger = world.subscribe(world.rivalLock().acquire());
        world.subscribe(holder.release());
        release(waiters.get(0));
        world.on(Operation.RELEASE).next(Fault.lostReply(), Fault.lostRequest());
        release(waiters.get(1));
        world.pass(Duration.ofSeconds(6));
        release(stranger);
    }

    @Test
    void memberThatWasNotServedCountsAsAWaiter() {
        LockClient limited = world.client(builder -> builder.maxWaiters(3));
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = Stream.generate(
                        () -> world.subscribe(limited.lock(NAME).acquire()))
                .limit(3)
                .toList();
        world.subscribe(holder.release());
        ClientReport report = limited.report();
        assertThat(report.holdCount()).isEqualTo(1);
        assertThat(report.waitCount()).isEqualTo(2);
        TestSubscriber<LockLease> fourth = world.subscribe(limited.lock(NAME).acquire());
        TestSubscriber<LockLease> fifth = world.subscribe(limited.lock(NAME).acquire());
        assertThat(waits(fourth)).isTrue();
        assertThat(fifth.expectTerminalError()).isInstanceOf(LockQueueFullException.class);
        waiters.forEach(this::release);
        release(fourth);
        world.subscribe(limited.close());
    }

    @Test
    void closeOfOneClientLeavesTheRunOfAnotherAlone() {
        LockClient other = world.client(builder -> builder);
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = waiters(2);
        TestSubscriber<LockLease> ofOther = world.subscribe(other.lock(NAME).acquire());
        TestSubscriber<LockLease> ofOtherToo = world.subscribe(other.lock(NAME).acquire());
        world.subscribe(holder.release());
        world.subscribe(other.close());
        assertThat(ofOther.expectTerminalError()).isInstanceOf(LockClosedException.class);
        assertThat(ofOtherToo.expectTerminalError()).isInstanceOf(LockClosedException.class);
        assertThat(world.only(waiters.get(0)).isValid()).isTrue();
        waiters.forEach(this::release);
    }

    @Test
    void exportedMemberIsTheLastOfItsRun() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = waiters(3);
        world.subscribe(holder.release());
        release(waiters.get(0));
        LockLease exported = world.only(waiters.get(1));
        TestSubscriber<String> text = world.subscribe(exported.export());
        LockLease adopted =
                world.granted(world.rival.adopt(text.getReceivedOnNext().get(0)));
        assertThat(adopted.fencingToken()).isEqualTo(exported.fencingToken());
        world.pass(Duration.ofSeconds(20));
        assertThat(adopted.isValid()).isTrue();
        assertThat(waits(waiters.get(2))).isTrue();
        world.subscribe(adopted.release());
        world.pass(Duration.ofSeconds(11));
        release(waiters.get(2));
    }

    /** The request is lost, and the client releases what it may have adopted. */
    @Test
    void memberWhoseAdoptionFailsHoldsUpNoOther() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = waiters(3);
        world.subscribe(holder.release());
        String text = world.only(world.subscribe(world.only(waiters.get(0)).export()));
        world.on(Operation.RENEW).next(Fault.lostRequest());
        TestSubscriber<LockLease> adopted = world.subscribe(world.client.adopt(text));
        assertThat(adopted.expectTerminalError()).isInstanceOf(LockBackendException.class);
        release(waiters.get(1));
        release(waiters.get(2));
    }

    @Test
    void longWorkEndsTheRunAndTheOthersKeepTheirPlaces() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        List<TestSubscriber<LockLease>> waiters = waiters(3);
        TestSubscriber<LockLease> stranger = world.subscribe(world.rivalLock().acquire());
        world.subscribe(holder.release());
        LockLease first = world.only(waiters.get(0));
        world.pass(Duration.ofSeconds(60));
        assertThat(first.isValid()).isTrue();
        world.subscribe(first.release());
        release(waiters.get(1));
        assertThat(waits(stranger)).isTrue();
        release(waiters.get(2));
        release(stranger);
    }

    @Test
    void aLongRunDoesNotOverflowTheStack() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        int[] done = new int[1];
        for (int i = 0; i < 5_000; i++) {
            world.lock().withLock(Mono.fromRunnable(() -> done[0]++)).subscribe();
        }
        world.subscribe(holder.release());
        world.pass(Duration.ofMillis(10));
        assertThat(done[0]).isEqualTo(5_000);
    }
}
