package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.MOMENT;
import static io.holdfast.semantics.World.NAME;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.subscriber.TestSubscriber;

/** A writer becomes a reader: with no other writer in between, and one hold with one end. */
class DowngradeTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration THIRD = LEASE.dividedBy(3);

    @RegisterExtension
    final World world = new World();

    private ReactiveLock writeLock() {
        return world.client.readWriteLock(NAME).writeLock();
    }

    private ReactiveLock writeLock(UnaryOperator<LockOptions.Builder> settings) {
        return writeLock().with(settings.apply(LockOptions.builder()).build());
    }

    private LockLease writing() {
        return world.granted(writeLock().acquire());
    }

    /** Returns the lease of the second of three writers in a run. The third one holds the lock for a moment. */
    private LockLease writingInARun() {
        LockLease before =
                world.granted(world.rival.readWriteLock(NAME).writeLock().acquire());
        TestSubscriber<LockLease> first = world.subscribe(writeLock().acquire());
        TestSubscriber<LockLease> second = world.subscribe(writeLock().acquire());
        third = world.subscribe(writeLock().withLock(lease -> Mono.just(lease.fencingToken())));
        world.subscribe(before.release());
        world.subscribe(world.only(first).release());
        world.pass(SECOND); // it is confirmed
        return world.only(second);
    }

    private TestSubscriber<Long> third = TestSubscriber.create();

    private static LockLost lostOf(TestSubscriber<?> subscriber) {
        Throwable error = subscriber.expectTerminalError();
        assertThat(error).isInstanceOf(LockLostException.class);
        LockLostException lost = (LockLostException) error;
        return new LockLost(lost.reason(), lost.getMessage());
    }

    private record LockLost(LossReason reason, String message) {}

    /** Returns whether the rival can get the lock now, for a moment. */
    private boolean rivalGets(ReactiveLock lock) {
        TestSubscriber<LockLease> attempt = world.subscribe(lock.tryAcquire());
        attempt.getReceivedOnNext().forEach(lease -> world.subscribe(lease.release()));
        return !attempt.getReceivedOnNext().isEmpty();
    }

    private boolean rivalReads() {
        return rivalGets(world.rival.readWriteLock(NAME).readLock());
    }

    private boolean rivalWrites() {
        return rivalGets(world.rival.readWriteLock(NAME).writeLock());
    }

    @Test
    void theWriteLeaseEndsAndTheReadLeaseContinuesWithItsToken() {
        LockLease lease = writing();
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        assertThat(rivalReads()).isFalse();
        LockLease reading = world.granted(lease.downgrade());
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(loss.isTerminatedComplete()).isTrue();
        assertThat(loss.getReceivedOnNext()).isEmpty();
        assertThat(reading.isValid()).isTrue();
        assertThat(reading.lockName()).isEqualTo(NAME);
        assertThat(reading.fencingToken()).isEqualTo(lease.fencingToken());
        assertThat(reading.remaining()).isGreaterThan(LEASE.minusSeconds(1));
        assertThat(rivalReads()).isTrue();
        assertThat(rivalWrites()).isFalse();

        world.pass(LEASE.multipliedBy(3));
        assertThat(reading.isValid()).isTrue();
        assertThat(rivalWrites()).isFalse();
        world.subscribe(reading.release()).expectTerminalSignal();
        assertThat(rivalWrites()).isTrue();
    }

    @Test
    void theReadLeaseHasTheWholeDuration() {
        LockLease lease =
                world.granted(writeLock(options -> options.autoRenew(false)).acquire());
        world.pass(LEASE.minusSeconds(2));
        LockLease reading = world.granted(lease.downgrade());
        assertThat(reading.remaining()).isGreaterThan(LEASE.minusSeconds(1));
        world.pass(LEASE);
        assertThat(reading.isValid()).isFalse();
    }

    @Test
    void aWaitingWriterStaysOutAndWaitingReadersJoin() {
        LockLease lease = writing();
        TestSubscriber<LockLease> reader =
                world.subscribe(world.rival.readWriteLock(NAME).readLock().acquire());
        TestSubscriber<LockLease> writer =
                world.subscribe(world.rival.readWriteLock(NAME).writeLock().acquire());
        LockLease reading = world.granted(lease.downgrade());
        LockLease beside = world.only(reader);
        assertThat(writer.getReceivedOnNext()).isEmpty();
        world.subscribe(reading.release());
        world.pass(SECOND);
        assertThat(writer.getReceivedOnNext()).isEmpty();
        world.subscribe(beside.release());
        LockLease next = world.only(writer);
        assertThat(next.fencingToken()).isGreaterThan(beside.fencingToken());
        world.subscribe(next.release());
    }

    @Test
    void aMemberOfARunIsTheLastOneAndTheOthersKeepTheirPlaces() {
        LockLease lease = writingInARun();
        TestSubscriber<LockLease> reader =
                world.subscribe(world.rival.readWriteLock(NAME).readLock().acquire());
        LockLease reading = world.granted(lease.downgrade());
        assertThat(reading.fencingToken()).isEqualTo(lease.fencingToken());
        assertThat(world.client.report().waitCount()).isEqualTo(1);
        world.pass(LEASE.multipliedBy(3));
        assertThat(reading.isValid()).isTrue();
        assertThat(third.isTerminated()).isFalse();
        world.subscribe(reading.release());
        assertThat(world.only(third)).isGreaterThan(reading.fencingToken());
        assertThat(world.only(reader).fencingToken()).isGreaterThan(world.only(third));
        world.subscribe(world.only(reader).release());
        assertThat(world.events(LockEvent.Lost.class)).isEmpty();
    }

    @Test
    void aMemberWhoseRequestsAreLostStaysTheOnlyOwner() {
        LockLease lease = writingInARun();
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest());
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        world.pass(LEASE.dividedBy(2));
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostReply());
        world.on(Operation.TRY_ACQUIRE).none();
        world.pass(THIRD);
        assertThat(world.only(downgrade).fencingToken()).isEqualTo(lease.fencingToken());
        assertThat(third.isTerminated()).isFalse();
        world.subscribe(world.only(downgrade).release());
        world.pass(THIRD);
        world.only(third);
    }

    @Test
    void aMemberIsReleasedWhateverBecomesOfItsRequest() {
        for (Fault fault : List.of(
                Fault.none(),
                Fault.lostRequest(),
                Fault.lostReply(),
                Fault.delayedRequest(SECOND),
                Fault.delayedReply(SECOND))) {
            aMemberIsReleased(fault, Fault.none());
            aMemberIsReleased(fault, Fault.delayedReply(SECOND.plusMillis(500)));
        }
    }

    /** The client sends one release for the cancellation, and one for the answer, which may overtake the first. */
    @Test
    void aCancellationWhoseReleaseIsOvertakenIsNoLoss() {
        for (boolean isInARun : List.of(false, true)) {
            LockLease lease = isInARun ? writingInARun() : writing();
            world.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(MOMENT));
            world.on(Operation.RELEASE).next(Fault.delayedRequest(SECOND));
            world.subscribe(lease.downgrade()).cancel();
            world.pass(SECOND.multipliedBy(3));
            assertThat(world.events(LockEvent.Lost.class)).isEmpty();
            assertThat(world.store.contents()).isEmpty();
        }
    }

    private void aMemberIsReleased(Fault fault, Fault ofReleases) {
        LockLease lease = writingInARun();
        world.events.clear();
        world.on(Operation.TRY_ACQUIRE).always(fault);
        world.on(Operation.RELEASE).always(ofReleases);
        world.subscribe(lease.downgrade().flatMap(reading -> reading.release().then(Mono.never())))
                .cancel();
        world.on(Operation.TRY_ACQUIRE).none();
        world.pass(SECOND.multipliedBy(8));
        world.on(Operation.RELEASE).none();
        assertThat(world.only(third)).as(fault.toString()).isGreaterThan(lease.fencingToken());
        assertThat(world.events(LockEvent.Released.class)).as(fault.toString()).hasSize(2);
        assertThat(world.events(LockEvent.Lost.class)).as(fault.toString()).isEmpty();
        assertThat(world.store.contents()).as(fault.toString()).isEmpty();
    }

    @Test
    void aMemberThatIsLostBeforeTheAnswerHoldsUpNoOther() {
        LockLease lease = writingInARun();
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest());
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        world.pass(LEASE);
        assertThat(lostOf(downgrade).reason()).isEqualTo(LossReason.EXPIRED);
        world.on(Operation.TRY_ACQUIRE).none();
        world.pass(THIRD.multipliedBy(2));
        world.only(third);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aMemberWhoseClientClosesMeanwhileIsReleased() {
        LockLease lease = writingInARun();
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest());
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        world.subscribe(world.client.close());
        assertThat(lostOf(downgrade).reason()).isEqualTo(LossReason.CLIENT_CLOSED);
        assertThat(third.expectTerminalError()).isInstanceOf(LockClosedException.class);
        assertThat(rivalWrites()).isTrue();
    }

    @Test
    void nothingIsSentBeforeTheSubscriptionAndTheSecondFails() {
        LockLease lease = writing();
        Mono<LockLease> downgrade = lease.downgrade();
        int attempts = world.on(Operation.TRY_ACQUIRE).calls();
        world.pass(SECOND);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isEqualTo(attempts);
        assertThat(lease.isValid()).isTrue();
        LockLease reading = world.granted(downgrade);
        assertThat(lostOf(world.subscribe(downgrade)).message()).contains("given up for a read lease by downgrade()");
        assertThat(world.subscribe(lease.export()).expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(world.subscribe(lease.renew()).expectTerminalError()).isInstanceOf(LockLostException.class);
        world.subscribe(lease.release()).expectTerminalSignal();
        assertThat(reading.isValid()).isTrue();
        world.subscribe(reading.release());
    }

    @Test
    void theHoldHasOneBeginningAndOneEnd() {
        LockLease lease = writing();
        world.pass(SECOND);
        LockLease reading = world.granted(lease.downgrade());
        world.pass(SECOND);
        world.subscribe(reading.release());
        assertThat(world.events(LockEvent.AcquireStarted.class)).hasSize(1);
        assertThat(world.events(LockEvent.Acquired.class)).hasSize(1);
        assertThat(world.events(LockEvent.Downgraded.class)).singleElement().satisfies(event -> {
            assertThat(event.fencingToken()).isEqualTo(lease.fencingToken());
            assertThat(event.held()).isEqualTo(SECOND);
        });
        assertThat(world.events(LockEvent.Released.class))
                .singleElement()
                .satisfies(event -> assertThat(event.held()).isEqualTo(SECOND.multipliedBy(2)));
        assertThat(world.events(LockEvent.Lost.class)).isEmpty();
    }

    @Test
    void theRenewalInFlightIsWaitedFor() {
        LockLease lease = writing();
        world.on(Operation.RENEW).always(Fault.delayedReply(SECOND));
        world.pass(THIRD);
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        assertThat(lease.isValid()).isFalse();
        assertThat(downgrade.getReceivedOnNext()).isEmpty();
        assertThat(rivalReads()).isFalse();
        world.pass(SECOND);
        LockLease reading = world.only(downgrade);
        world.on(Operation.RENEW).none();
        world.subscribe(reading.release());
    }

    @Test
    void aRenewalThatFindsTheLeaseLostFailsIt() {
        LockLease lease = writing();
        world.on(Operation.RENEW).always(Fault.delayedReply(SECOND));
        world.takeAway(NAME);
        world.pass(THIRD);
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        world.pass(SECOND);
        assertThat(lostOf(downgrade).reason()).isEqualTo(LossReason.NOT_HELD);
        assertThat(world.events(LockEvent.Lost.class)).hasSize(1);
    }

    @Test
    void aDowngradeOfALostLeaseIsALoss() {
        LockLease lease = writing();
        world.takeAway(NAME);
        LockLease other =
                world.granted(world.rival.readWriteLock(NAME).writeLock().acquire());
        assertThat(lostOf(world.subscribe(lease.downgrade())).reason()).isEqualTo(LossReason.NOT_HELD);
        assertThat(other.isValid()).isTrue();
        world.subscribe(other.release());
        assertThat(world.events(LockEvent.Lost.class)).hasSize(1);
    }

    /** Another writer may have held the lock in between, so a new grant does not prove the old one, and is released. */
    @Test
    void aNewGrantInPlaceOfTheOldOneIsALoss() {
        LockLease lease = writing();
        world.takeAway(NAME);
        assertThat(rivalWrites()).isTrue();
        assertThat(lostOf(world.subscribe(lease.downgrade())).reason()).isEqualTo(LossReason.NOT_HELD);
        world.pass(Duration.ZERO);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aDowngradeWithALostReplyIsSentAgain() {
        LockLease lease = writing();
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostReply(), Fault.lostReply());
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        assertThat(lease.isValid()).isFalse();
        assertThat(rivalReads()).as("the store has done it").isTrue();
        world.pass(OPERATION_TIMEOUT.multipliedBy(3).plus(SECOND));
        LockLease reading = world.only(downgrade);
        assertThat(reading.fencingToken()).isEqualTo(lease.fencingToken());
        assertThat(world.events(LockEvent.AttemptFailed.class)).hasSize(2);
        world.subscribe(reading.release());
    }

    @Test
    void anAnswerAfterTheTimeLimitChangesNothing() {
        LockLease lease = writing();
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(OPERATION_TIMEOUT.plusMillis(1)));
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        world.pass(OPERATION_TIMEOUT.plus(SECOND));
        world.pass(SECOND);
        LockLease reading = world.only(downgrade);
        world.pass(LEASE);
        assertThat(reading.isValid()).isTrue();
        world.subscribe(reading.release());
    }

    @Test
    void aDowngradeWithoutAnAnswerUntilTheDeadlineIsALossAndTheLockIsReleased() {
        LockLease lease = writing();
        world.on(Operation.TRY_ACQUIRE).always(Fault.lostRequest());
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        world.pass(LEASE.minusSeconds(1));
        assertThat(downgrade.isTerminated()).isFalse();
        assertThat(rivalReads()).isFalse();
        world.pass(SECOND);
        LockLost lost = lostOf(downgrade);
        assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
        assertThat(lost.message()).contains("before the back end confirmed the downgrade; the last request failed: ");
        assertThat(world.events(LockEvent.Lost.class)).hasSize(1);
        world.pass(OPERATION_TIMEOUT);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aDowngradeThatArrivesAfterTheReleaseOfItsClaimTakesNothing() {
        LockLease lease = writing();
        world.on(Operation.TRY_ACQUIRE).always(Fault.delayedRequest(SECOND));
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        downgrade.cancel();
        world.pass(Duration.ZERO);
        assertThat(rivalWrites()).isTrue();
        world.pass(SECOND);
        assertThat(world.store.contents()).isEmpty();
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);
        assertThat(world.events(LockEvent.Lost.class)).isEmpty();
    }

    @Test
    void cancellingAtAThousandInstantsLeavesNothing() {
        for (int round = 0; round < 1_000; round++) {
            Random random = new Random(round);
            LockLease lease = random.nextBoolean() ? writing() : writingInARun();
            world.on(Operation.RENEW).always(Fault.delayedReply(Duration.ofMillis(random.nextInt(20))));
            world.on(Operation.TRY_ACQUIRE)
                    .always(
                            random.nextBoolean()
                                    ? Fault.delayedReply(Duration.ofMillis(random.nextInt(20)))
                                    : Fault.delayedRequest(Duration.ofMillis(random.nextInt(20))));
            world.pass(THIRD.minusMillis(random.nextInt(1_100)));
            TestSubscriber<Object> work = world.subscribe(lease.downgrade()
                    .flatMap(reading ->
                            Mono.never().doFinally(end -> reading.release().subscribe())));
            world.pass(Duration.ofMillis(random.nextInt(40)));
            work.cancel();
            world.pass(Duration.ofMillis(50));
            world.on(Operation.RENEW).none();
            world.on(Operation.TRY_ACQUIRE).none();
            assertThat(world.store.contents()).as("round %d", round).isEmpty();
        }
    }

    @Test
    void aCancellationBeforeTheReadLeaseReleasesTheLock() {
        LockLease lease = writing();
        world.on(Operation.RENEW).always(Fault.delayedReply(SECOND));
        world.pass(THIRD);
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        downgrade.cancel();
        world.pass(Duration.ZERO);
        assertThat(rivalWrites()).isTrue();
        world.pass(SECOND);
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);
    }

    @Test
    void aClientThatClosesMeanwhileFailsItAndReleases() {
        LockClient closing = world.client(builder -> builder);
        LockLease lease = world.granted(closing.readWriteLock(NAME).writeLock().acquire());
        world.on(Operation.TRY_ACQUIRE).always(Fault.delayedReply(SECOND));
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        world.subscribe(closing.close());
        world.pass(OPERATION_TIMEOUT);
        assertThat(lostOf(downgrade).reason()).isEqualTo(LossReason.CLIENT_CLOSED);
        assertThat(rivalWrites()).isTrue();
        assertThat(closing.toString()).contains("0 acquiring, 0 held, 0 releasing");
    }

    @Test
    void aLeaseThatHasEndedCannotBeDowngraded() {
        LockLease released = writing();
        world.subscribe(released.release());
        assertThat(lostOf(world.subscribe(released.downgrade())).message()).contains("it was released before");

        LockLease lost =
                world.granted(writeLock(options -> options.autoRenew(false)).acquire());
        world.pass(LEASE);
        assertThat(lostOf(world.subscribe(lost.downgrade())).reason()).isEqualTo(LossReason.EXPIRED);

        LockLease exported = writing();
        world.only(world.subscribe(exported.export()));
        assertThat(lostOf(world.subscribe(exported.downgrade())).message()).contains("export()");
        world.pass(LEASE);
    }

    @Test
    void theReadLeaseIsLostExportedAndRenewedAsAnyOther() {
        LockLease reading = world.granted(writing().downgrade());
        world.subscribe(reading.renew()).expectTerminalSignal();
        String text = world.only(world.subscribe(reading.export()));
        LockLease adopted = world.granted(world.rival.adopt(text));
        assertThat(adopted.fencingToken()).isEqualTo(reading.fencingToken());
        assertThat(rivalReads()).isTrue();
        world.subscribe(adopted.release());

        LockLease another = world.granted(writing().downgrade());
        TestSubscriber<LossReason> loss = world.subscribe(another.onLoss());
        world.takeAway(NAME);
        world.pass(THIRD);
        assertThat(world.only(loss)).isEqualTo(LossReason.NOT_HELD);
        assertThat(world.events(LockEvent.Lost.class)).hasSize(1);
    }

    @Test
    void anAdoptedLeaseCanBeDowngraded() {
        LockLease adopted = world.granted(
                world.client.adopt(world.only(world.subscribe(writing().export()))));
        LockLease reading = world.granted(adopted.downgrade());
        assertThat(reading.fencingToken()).isEqualTo(adopted.fencingToken());
        assertThat(rivalReads()).isTrue();
        world.subscribe(reading.release());
    }

    @Test
    void theLongestHoldTimeCountsFromTheBeginning() {
        LockLease lease = world.granted(
                writeLock(options -> options.maxHoldTime(LEASE.multipliedBy(2))).acquire());
        world.pass(LEASE);
        LockLease reading = world.granted(lease.downgrade());
        world.pass(LEASE.minus(MOMENT));
        assertThat(reading.isValid()).isTrue();
        world.pass(MOMENT);
        assertThat(reading.isValid()).isFalse();
        assertThat(world.events(LockEvent.Lost.class)).singleElement().satisfies(event -> {
            assertThat(event.held()).isEqualTo(LEASE.multipliedBy(2));
            assertThat(event.reason()).isEqualTo(LossReason.MAX_HOLD_TIME);
        });
    }

    @Test
    void theLeastHoldTimeCountsFromTheBeginningAndKeepsWritersOut() {
        LockLease lease = world.granted(
                writeLock(options -> options.minHoldTime(LEASE.multipliedBy(2))).acquire());
        world.pass(LEASE);
        LockLease reading = world.granted(lease.downgrade());
        world.subscribe(reading.release()).expectTerminalSignal();
        world.pass(LEASE.minusSeconds(1));
        assertThat(rivalReads()).isTrue();
        assertThat(rivalWrites()).isFalse();
        world.pass(SECOND.plus(OPERATION_TIMEOUT));
        assertThat(rivalWrites()).isTrue();
    }

    @Test
    void aDowngradeThatIsCancelledDuringItsRequestKeepsTheLockForTheLeastHoldTime() {
        LockLease lease = world.granted(
                writeLock(options -> options.minHoldTime(LEASE.multipliedBy(2))).acquire());
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedReply(SECOND));
        world.subscribe(lease.downgrade()).cancel();
        world.pass(SECOND);
        world.pass(LEASE);
        assertThat(rivalWrites()).isFalse();
        world.pass(LEASE.plus(OPERATION_TIMEOUT));
        assertThat(rivalWrites()).isTrue();
    }

    @Test
    void aLossSignalledDuringTheDowngradeCounts() {
        LockLease lease = writing();
        world.on(Operation.TRY_ACQUIRE).always(Fault.delayedReply(SECOND));
        TestSubscriber<LockLease> downgrade = world.subscribe(lease.downgrade());
        world.subscribe(world.store
                .holders(world.claims.get(NAME).key())
                .flatMap(holder -> world.store.inspector().breakHold(NAME, holder))
                .then());
        assertThat(lostOf(downgrade).reason()).isEqualTo(LossReason.NOT_HELD);
        world.pass(SECOND);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aChangeSignalledDuringTheDowngradeMakesTheReaderRenewAtOnce() {
        Signalling store = new Signalling(world.store);
        LockClient client =
                LockClient.builder(store).timer(world.clock).closeBackend(false).build();
        LockLease lease = world.granted(client.readWriteLock(NAME).writeLock().acquire());
        store.signalsDuringAttempts = true;
        LockLease reading = world.granted(lease.downgrade());
        world.pass(MOMENT);
        assertThat(store.renewals).isEqualTo(1);
        world.subscribe(reading.release());
        world.subscribe(client.close());
    }

    @Test
    void leasesOfOtherKindsAndPartsOfOthersAreRefusedAndStay() {
        for (ReactiveLock lock : new ReactiveLock[] {
            world.client.lock(NAME),
            world.client.semaphore(NAME, 2),
            world.client.readWriteLock(NAME).readLock()
        }) {
            LockLease lease = world.granted(lock.acquire());
            assertThat(world.subscribe(lease.downgrade()).expectTerminalError())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("only a lease of a write lock");
            assertThat(lease.isValid()).isTrue();
            world.subscribe(lease.release());
        }
        assertThat(world.subscribe(writeLock().withLock(LockLease::downgrade)).expectTerminalError())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("released by withLock");
        assertThat(world.subscribe(writeLock()
                                .withLock(outer -> world.client
                                        .readWriteLock(NAME)
                                        .readLock()
                                        .withLock(LockLease::downgrade)))
                        .expectTerminalError())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nested lease");
        assertThat(world.subscribe(world.client
                                .all(writeLock())
                                .acquire()
                                .flatMap(leases -> leases.lease(NAME)
                                        .downgrade()
                                        .onErrorResume(
                                                refused -> leases.release().then(Mono.error(refused)))))
                        .expectTerminalError())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("MultiLease");
    }

    @Test
    void aBackEndWithoutTheFeatureRefuses() {
        LockClient client = LockClient.builder(new Without(world.store))
                .timer(world.clock)
                .closeBackend(false)
                .build();
        LockLease lease = world.granted(client.readWriteLock(NAME).writeLock().acquire());
        assertThat(world.subscribe(lease.downgrade()).expectTerminalError())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("back end memory cannot turn a writer into a reader");
        assertThat(lease.isValid()).isTrue();
        world.subscribe(lease.release());
        world.subscribe(client.close());
    }

    /** The hold had ended on the server before. No work has begun under the new one. */
    @Test
    void aNewGrantToADowngradeThatWasCancelledIsNotKeptForTheLeastHoldTime() {
        LockLease writer = world.granted(
                writeLock(options -> options.minHoldTime(LEASE.multipliedBy(2))).acquire());
        world.takeAway(NAME);
        LockLease rival =
                world.granted(world.rival.readWriteLock(NAME).writeLock().acquire());
        world.subscribe(rival.release());
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedRequest(SECOND));

        world.subscribe(writer.downgrade()).cancel();
        world.pass(SECOND.plus(OPERATION_TIMEOUT));

        assertThat(world.events(LockEvent.Lost.class)).hasSize(1);
        LockLease next =
                world.granted(world.rival.readWriteLock(NAME).writeLock().tryAcquire());
        world.subscribe(next.release());
    }

    private record Without(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Set<LockFeature> features() {
            return EnumSet.complementOf(EnumSet.of(LockFeature.DOWNGRADE));
        }
    }

    /** Signals a change between the processing of an attempt and its answer. */
    private static final class Signalling implements ForwardingLockBackend {

        private final LockBackend store;
        private final Sinks.Many<WatchSignal> signals = Sinks.many().multicast().directBestEffort();
        private boolean signalsDuringAttempts;
        private int renewals;

        Signalling(LockBackend store) {
            this.store = store;
        }

        @Override
        public LockBackend delegate() {
            return store;
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return signals.asFlux();
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return store.tryAcquire(claim).doOnNext(answer -> {
                if (signalsDuringAttempts) {
                    signals.tryEmitNext(new WatchSignal.Changed());
                }
            });
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            renewals++;
            return store.renew(claim);
        }
    }
}
