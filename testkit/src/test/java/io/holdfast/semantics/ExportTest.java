package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.MOMENT;
import static io.holdfast.semantics.World.NAME;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LocalHandOver;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/** A lease goes from one process to another, without a gap or an overlap. */
class ExportTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @RegisterExtension
    final World world = new World();

    private String exported(LockLease lease) {
        return world.only(world.subscribe(lease.export()));
    }

    private boolean isFree() {
        TestSubscriber<LockLease> attempt = world.subscribe(world.rivalLock().tryAcquire());
        attempt.getReceivedOnNext().forEach(lease -> world.subscribe(lease.release()));
        return !attempt.getReceivedOnNext().isEmpty();
    }

    @Test
    void aLeaseOfALaterAttemptIsAdoptedTooAndReleased() {
        LockLease rivals = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiting = world.subscribe(world.lock().acquire());
        world.pass(LEASE);
        world.subscribe(rivals.release());
        LockLease lease = world.only(waiting);
        assertThat(world.claims.get(NAME).attempt()).isGreaterThan(1);
        LockLease adopted = world.granted(world.rival.adopt(exported(lease)));
        assertThat(adopted.fencingToken()).isEqualTo(lease.fencingToken());
        world.subscribe(adopted.release()).expectTerminalSignal();
        assertThat(isFree()).isTrue();
    }

    /** The adopter does not know of the attempt, so its release must leave a tombstone for late attempts. */
    @Test
    void anAttemptOfTheExporterThatArrivesAfterTheAdoptersReleaseTakesNothing() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.delayedRequest(SECOND.multipliedBy(6)));
        TestSubscriber<LockLease> acquired = world.subscribe(world.lock().acquire());
        world.pass(OPERATION_TIMEOUT.plus(SECOND));
        LockLease adopted = world.granted(world.rival.adopt(exported(world.only(acquired))));
        world.subscribe(adopted.release()).expectTerminalSignal();
        world.pass(SECOND.multipliedBy(4));
        assertThat(world.store.contents()).isEmpty();
        assertThat(isFree()).isTrue();
    }

    /** Otherwise the adopter would write with a token that is lower than that of the owner in between. */
    @Test
    void aHoldThatALateAttemptOfTheExporterHasTakenIsNotAdopted() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.duplicated(LEASE.plus(SECOND)));
        LockLease lease = world.granted(world.lock().acquire());
        String text = exported(lease);
        world.pass(LEASE.plusMillis(500));
        LockLease between = world.granted(world.rivalLock().acquire());
        assertThat(between.fencingToken()).isGreaterThan(lease.fencingToken());
        world.subscribe(between.release()).expectTerminalSignal();
        world.pass(SECOND);
        assertThat(isFree())
                .as("the late attempt of the exporter has got the lock")
                .isFalse();

        assertThat(world.subscribe(world.rival.adopt(text)).expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("its claim did not hold it any more when it was adopted");
        world.pass(LEASE);
        assertThat(isFree()).isTrue();
    }

    @Test
    void theExportersLeaseEndsAndTheAdoptersContinuesWithItsToken() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        String text = exported(lease);
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(loss.isTerminatedComplete()).isTrue();
        assertThat(loss.getReceivedOnNext()).isEmpty();
        assertThat(isFree()).isFalse();

        LockLease adopted = world.granted(world.rival.adopt(text));
        assertThat(adopted.lockName()).isEqualTo(NAME);
        assertThat(adopted.fencingToken()).isEqualTo(lease.fencingToken());
        assertThat(adopted.remaining()).isGreaterThan(LEASE.minusSeconds(1));
        world.pass(LEASE.multipliedBy(3));
        assertThat(adopted.isValid()).isTrue();
        assertThat(isFree()).isFalse();
        world.subscribe(adopted.release());
        assertThat(isFree()).isTrue();
    }

    @Test
    void theExporterSendsNoFurtherRequest() {
        LockLease lease = world.granted(world.lock().acquire());
        String text = exported(lease);
        int renewals = world.on(Operation.RENEW).calls();
        world.subscribe(lease.release()).expectTerminalSignal();
        assertThat(world.subscribe(lease.renew()).expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("it was handed on to another process by export()");
        assertThat(world.subscribe(lease.export()).expectTerminalError()).isInstanceOf(LockLostException.class);
        world.pass(LEASE.dividedBy(2));
        assertThat(world.on(Operation.RENEW).calls()).isEqualTo(renewals);
        assertThat(world.on(Operation.RELEASE).calls()).isZero();
        assertThat(world.client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
        world.subscribe(world.granted(world.rival.adopt(text)).release());
    }

    @Test
    void anExportThatIsNeverAdoptedEndsWithItsLease() {
        exported(world.granted(world.lock().acquire()));
        world.pass(LEASE.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(MOMENT);
        assertThat(isFree()).isTrue();
    }

    @Test
    void eachLeaseIsReportedToEndOnce() {
        LockLease lease = world.granted(world.lock().acquire());
        String text = exported(lease);
        assertThat(world.events(LockEvent.HandedOn.class))
                .singleElement()
                .satisfies(event -> assertThat(event.fencingToken()).isEqualTo(lease.fencingToken()));
        LockLease adopted = world.granted(world.client.adopt(text));
        assertThat(world.events(LockEvent.AcquireStarted.class)).hasSize(2);
        assertThat(world.events(LockEvent.Acquired.class)).hasSize(2);
        world.subscribe(adopted.release());
        assertThat(world.events(LockEvent.Released.class)).hasSize(1);
    }

    @Test
    void anExportWaitsForTheRenewalInFlight() {
        LockLease lease = world.granted(world.lock().acquire());
        world.on(Operation.RENEW).always(Fault.delayedReply(SECOND));
        world.pass(LEASE.dividedBy(3));
        TestSubscriber<String> text = world.subscribe(lease.export());
        assertThat(lease.isValid()).isFalse();
        assertThat(text.getReceivedOnNext()).isEmpty();
        world.pass(SECOND);
        assertThat(text.getReceivedOnNext()).hasSize(1);
        world.on(Operation.RENEW).none();
        world.subscribe(world.granted(world.rival.adopt(world.only(text))).release());
    }

    @Test
    void aRenewalThatFindsTheLeaseLostFailsTheExport() {
        LockLease lease = world.granted(world.lock().acquire());
        world.on(Operation.RENEW).always(Fault.delayedReply(SECOND));
        world.takeAway(NAME);
        world.pass(LEASE.dividedBy(3));
        TestSubscriber<String> text = world.subscribe(lease.export());
        world.pass(SECOND);
        assertThat(text.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void anExportThatIsCancelledBeforeItsTextReleases() {
        LockLease lease = world.granted(world.lock().acquire());
        world.on(Operation.RENEW).always(Fault.delayedReply(SECOND));
        world.pass(LEASE.dividedBy(3));
        TestSubscriber<String> text = world.subscribe(lease.export());
        text.cancel();
        world.pass(Duration.ZERO);
        assertThat(isFree()).isTrue();
        world.pass(SECOND);
    }

    @Test
    void anExportThatIsCancelledByTheHandlerOfItsEndReleases() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<String> text = TestSubscriber.create();
        lease.onLoss().doFinally(end -> text.cancel()).subscribe();
        lease.export().subscribe(text);
        world.pass(Duration.ZERO);
        assertThat(text.getReceivedOnNext()).isEmpty();
        assertThat(isFree()).isTrue();
    }

    @Test
    void aTextIsEmittedAlthoughAHandlerOfTheEndThrows() {
        LockLease lease = world.granted(world.lock().acquire());
        lease.onLoss().subscribe(new CoreSubscriber<>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                subscription.request(1);
            }

            @Override
            public void onNext(LossReason reason) {}

            @Override
            public void onError(Throwable error) {}

            @Override
            public void onComplete() {
                throw new AssertionError("thrown by a handler");
            }
        });
        TestSubscriber<String> text = TestSubscriber.create();
        lease.export().subscribe(text);
        world.subscribe(world.granted(world.rival.adopt(world.only(text))).release());
    }

    @Test
    void aSubscriberThatThrowsAtTheFailureOfItsExportKeepsNoLease() {
        LockLease lease = world.granted(world.lock().acquire());
        world.takeAway(World.NAME);
        world.on(Operation.RENEW).next(Fault.delayedReply(Duration.ofSeconds(1)));
        world.pass(LEASE.dividedBy(3));
        lease.export().subscribe(new CoreSubscriber<>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                subscription.request(1);
            }

            @Override
            public void onNext(String text) {}

            @Override
            public void onError(Throwable error) {
                throw new IllegalStateException("thrown by a handler");
            }

            @Override
            public void onComplete() {}
        });
        world.pass(LEASE);

        assertThat(world.client.toString()).contains("0 held");
    }

    @Test
    void anExportWithoutARequestLeavesTheLeaseUnchanged() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<String> text = TestSubscriber.builder().initialRequest(0).build();
        lease.export().subscribe(text);
        world.pass(Duration.ZERO);
        assertThat(lease.isValid()).isTrue();
        text.cancel();
        world.pass(LEASE);
        assertThat(lease.isValid()).isTrue();
        world.subscribe(lease.release());
    }

    @Test
    void anExportThatIsCancelledWhileItsTextIsOnTheWayReleases() {
        VirtualTimeScheduler slow = VirtualTimeScheduler.create();
        LockClient client = world.client(builder -> builder.deliverOn(new DeliveryTest.Late(slow)));
        TestSubscriber<LockLease> acquired = world.subscribe(client.lock(NAME).acquire());
        slow.advanceTimeBy(SECOND);
        TestSubscriber<String> text = world.subscribe(world.only(acquired).export());
        assertThat(isFree()).isFalse();
        text.cancel();
        assertThat(isFree()).isTrue();
        slow.advanceTimeBy(SECOND);
        assertThat(text.getReceivedOnNext()).isEmpty();
        world.subscribe(client.close());
    }

    private static void runAll(Queue<Runnable> tasks) {
        for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
            next.run();
        }
    }

    @Test
    void aCancellationAfterTheTextLeavesTheLockToTheAdopter() {
        TestSubscriber<String> text =
                world.subscribe(world.granted(world.lock().acquire()).export());
        text.cancel();
        world.pass(Duration.ZERO);
        assertThat(isFree()).isFalse();
        world.subscribe(world.granted(world.rival.adopt(world.only(text))).release());
    }

    @Test
    void aTextArrivesThroughTheUsualOperators() {
        List<UnaryOperator<Mono<String>>> operators = List.of(
                export -> export.flux().take(1).single(),
                export -> export.flux().next(),
                export -> export.timeout(SECOND, world.clock),
                export -> export.timeout(SECOND, Mono.just("late"), world.clock),
                export -> export.takeUntilOther(Mono.delay(SECOND, world.clock)),
                export -> export.flatMap(Mono::just),
                export -> Mono.just(1).flatMap(one -> export),
                export -> Mono.just(1).then(export),
                export -> Flux.just(1, 2).take(1).concatMap(one -> export).next(),
                export -> Flux.just(1, 2)
                        .switchMap(n -> n == 1 ? Mono.<String>never() : export)
                        .next(),
                export -> Mono.zip(export, Mono.just(1), (text, one) -> text),
                export -> Mono.firstWithSignal(export, Mono.never()),
                export -> Mono.usingWhen(Mono.just(1), one -> export, one -> Mono.empty()),
                export -> export.publishOn(world.clock).subscribeOn(world.clock),
                export -> export.onErrorResume(failure -> Mono.empty()).retry(1).cache(),
                export -> Mono.<String>error(new IllegalStateException("first")).onErrorResume(first -> export),
                export -> Mono.<String>empty().switchIfEmpty(export).doFinally(end -> {}),
                export -> Mono.fromFuture(export.toFuture()));
        for (UnaryOperator<Mono<String>> operator : operators) {
            LockLease lease = world.granted(world.lock().acquire());
            String text = world.only(world.subscribe(operator.apply(lease.export())));
            world.subscribe(world.granted(world.rival.adopt(text)).release());
            assertThat(isFree()).isTrue();
        }
    }

    /** The subscriber of {@code usingWhen} has cancelled, but not the subscriber of the export. */
    @Test
    void anExportThatACancellationBeginsEmitsItsText() {
        List<String> sent = new ArrayList<>();
        Disposable work = Mono.usingWhen(
                        world.lock().acquire(),
                        lease -> Mono.never(),
                        LockLease::release,
                        (lease, failure) -> lease.release(),
                        lease -> lease.export().doOnNext(sent::add))
                .subscribe();
        world.pass(Duration.ZERO);
        work.dispose();
        world.pass(Duration.ZERO);
        assertThat(sent).hasSize(1);
        world.subscribe(world.granted(world.rival.adopt(sent.get(0))).release());
    }

    @Test
    void aTextIsEmittedAlthoughTheSchedulerOfSignalsIsDisposed() {
        Scheduler gone = Schedulers.newSingle("gone");
        LockClient client = world.client(builder -> builder.deliverOn(gone));
        LockLease lease = Objects.requireNonNull(client.lock(NAME).acquire().block(Duration.ofSeconds(10)));
        gone.dispose();
        world.subscribe(world.granted(world.rival.adopt(exported(lease))).release());
        world.subscribe(client.close());
    }

    @Test
    void aLeaseThatEndsDuringItsLastRenewalIsNotHandedOn() {
        LockLease lease = world.granted(world.lock().acquire());
        TestSubscriber<LossReason> loss = world.subscribe(lease.onLoss());
        world.on(Operation.RENEW).always(Fault.lostRequest());
        world.pass(LEASE.minus(SECOND));
        world.on(Operation.RENEW).always(Fault.delayedReply(LEASE));
        world.pass(SECOND.dividedBy(4)); // now one is in flight
        TestSubscriber<String> text = world.subscribe(lease.export());
        world.pass(OPERATION_TIMEOUT);
        assertThat(text.getReceivedOnNext()).isEmpty();
        assertThat(text.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        error -> assertThat(error.reason()).isEqualTo(LossReason.EXPIRED));
        assertThat(world.only(loss)).isEqualTo(LossReason.EXPIRED);
    }

    @Test
    void aPushedGrantIsRenewedBeforeItIsHandedOn() {
        LockLease held = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.lock().acquire());
        world.pass(LEASE.dividedBy(2)); // the turn ignores this time
        world.subscribe(held.release());
        LockLease pushed = world.only(waiter);
        assertThat(world.on(Operation.RENEW).calls()).isZero();

        exported(pushed);
        world.pass(LEASE.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(MOMENT);
        assertThat(isFree()).isTrue();
    }

    @Test
    void aPushedGrantIsHandedOnEvenIfItCannotBeRenewed() {
        LockLease held = world.granted(world.rivalLock().acquire());
        TestSubscriber<LockLease> waiter = world.subscribe(world.lock().acquire());
        world.subscribe(held.release());
        LockLease pushed = world.only(waiter);
        world.on(Operation.RENEW).always(Fault.lostRequest());
        String text = exported(pushed);
        assertThat(world.on(Operation.RENEW).calls()).isEqualTo(1);
        world.subscribe(world.granted(world.rival.adopt(text)).release());
    }

    @Test
    void anAdoptionThatEndsBeforeItsEmissionIsNotRepeatedBesideItsRelease() {
        String text = exported(world.granted(world.rivalLock().acquire()));
        VirtualTimeScheduler slow = VirtualTimeScheduler.create();
        LockClient adopter = world.client(builder -> builder.deliverOn(new DeliveryTest.Late(slow))
                .options(LockOptions.builder().autoRenew(false).build()));
        TestSubscriber<LockLease> adopted = world.subscribe(adopter.adopt(text));
        world.on(Operation.RELEASE).always(Fault.lostRequest()); // until the adopter has continued the lease
        // the server still keeps the lock, and the lease of the client has ended
        world.pass(LEASE.minus(Duration.ofMillis(250)));
        slow.advanceTimeBy(SECOND);
        world.pass(Duration.ZERO);
        slow.advanceTimeBy(SECOND);
        world.on(Operation.RELEASE).none();
        world.pass(OPERATION_TIMEOUT.plus(SECOND));

        boolean believes = adopted.getReceivedOnNext().stream().anyMatch(LockLease::isValid);
        assertThat(believes && isFree()).as("two hold it").isFalse();
        assertThat(adopted.expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("it ended before it could be handed out here");
        world.subscribe(adopter.close());
    }

    @Test
    void aClientThatClosesDuringAnExportFailsItAndReleases() {
        LockClient closing = world.client(builder -> builder);
        LockLease lease = world.granted(closing.lock(NAME).acquire());
        world.on(Operation.RENEW).always(Fault.delayedReply(SECOND));
        world.pass(LEASE.dividedBy(3));
        TestSubscriber<String> text = world.subscribe(lease.export());
        world.subscribe(closing.close());
        world.pass(OPERATION_TIMEOUT);
        assertThat(text.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(isFree()).isTrue();
    }

    @Test
    void aLeaseThatHasEndedCannotBeExported() {
        LockLease released = world.granted(world.lock().acquire());
        world.subscribe(released.release());
        assertThat(world.subscribe(released.export()).expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("it was released before");

        LockLease lost =
                world.granted(world.lock(options -> options.autoRenew(false)).acquire());
        world.pass(LEASE);
        assertThat(world.subscribe(lost.export()).expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        error -> assertThat(error.reason()).isEqualTo(LossReason.EXPIRED));
    }

    @Test
    void workGoesOnAfterAnExportAndItsEndReleasesNothing() {
        TestSubscriber<String> work =
                world.subscribe(world.lock().withLock(lease -> lease.export().delayElement(SECOND, world.clock)));
        world.pass(SECOND);
        String text = world.only(work);
        assertThat(work.isTerminatedComplete()).isTrue();
        world.subscribe(world.granted(world.rival.adopt(text)).release());
    }

    /** The text may be in use already. The client cannot know that {@code withLock} has not emitted it. */
    @Test
    void aTextThatWithLockDropsKeepsTheLockUntilItsLeaseEnds() {
        Queue<Runnable> signals = new ArrayDeque<>();
        LockClient client = world.client(builder -> builder.deliverOn(Schedulers.fromExecutor(signals::add)));
        TestSubscriber<String> text = world.subscribe(client.lock(NAME).withLock(LockLease::export));
        signals.remove().run(); // the lease
        world.pass(Duration.ZERO);
        signals.remove().run(); // the text
        text.cancel();
        runAll(signals);
        assertThat(text.getReceivedOnNext()).isEmpty();

        world.pass(LEASE.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(MOMENT);
        assertThat(isFree()).isTrue();
        world.subscribe(client.close());
    }

    @Test
    void workThatSendsItsTextItselfDoesNotWaitForTheEndOfWithLock() {
        List<String> sent = new ArrayList<>();
        Queue<Runnable> signals = new ArrayDeque<>();
        LockClient client = world.client(builder -> builder.deliverOn(Schedulers.fromExecutor(signals::add)));
        TestSubscriber<Void> work = world.subscribe(client.lock(NAME)
                .withLock(lease -> lease.export().flatMap(text -> Mono.fromRunnable(() -> sent.add(text)))));
        signals.remove().run(); // the lease
        world.pass(Duration.ZERO);
        signals.remove().run(); // the text
        assertThat(work.isTerminated()).isFalse();
        assertThat(sent).hasSize(1);
        runAll(signals);
        world.subscribe(world.granted(world.rival.adopt(sent.get(0))).release());
        world.subscribe(client.close());
    }

    @Test
    void anExportWithoutRenewalsGivesTheRestOfTheLease() {
        LockLease lease =
                world.granted(world.lock(options -> options.autoRenew(false)).acquire());
        world.pass(LEASE.minus(SECOND));
        exported(lease);
        world.pass(SECOND);
        assertThat(isFree()).isTrue();
    }

    @Test
    void aRenewalByHandBeforeAnExportGivesTheWholeLease() {
        LockLease lease =
                world.granted(world.lock(options -> options.autoRenew(false)).acquire());
        world.pass(LEASE.minus(SECOND));
        assertThat(world.subscribe(lease.renew().then(lease.export())).getReceivedOnNext())
                .hasSize(1);
        world.pass(LEASE.minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(MOMENT);
        assertThat(isFree()).isTrue();
    }

    @Test
    void aNestedLeaseCannotBeExported() {
        TestSubscriber<String> nested =
                world.subscribe(world.lock().withLock(outer -> world.lock().withLock(LockLease::export)));
        assertThat(nested.expectTerminalError())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("export the outermost one");
    }

    @Test
    void nestedWorkIsCancelledByAnExport() {
        TestSubscriber<String> nested = TestSubscriber.create();
        LockLease[] outermost = new LockLease[1];
        world.subscribe(world.lock()
                .withLock(lease -> Mono.deferContextual(context -> {
                    outermost[0] = lease;
                    world.lock()
                            .withLock(Mono.<String>never())
                            .contextWrite(context)
                            .subscribe(nested);
                    return Mono.never();
                })));
        String text = exported(outermost[0]);
        assertThat(nested.expectTerminalError()).isInstanceOf(LockLostException.class);
        world.subscribe(world.granted(world.rival.adopt(text)).release());
    }

    @Test
    void nestedWorkStopsBeforeTheLastRenewalEnds() {
        TestSubscriber<String> nested = TestSubscriber.create();
        TestSubscriber<String> text = TestSubscriber.create();
        world.on(Operation.RENEW).always(Fault.delayedReply(SECOND));
        world.subscribe(world.lock()
                .withLock(lease -> Mono.deferContextual(context -> {
                    world.lock()
                            .withLock(Mono.<String>never())
                            .contextWrite(context)
                            .subscribe(nested);
                    return Mono.delay(LEASE.dividedBy(3), world.clock)
                            .doOnNext(tick -> lease.export().subscribe(text))
                            .then(Mono.never());
                })));
        world.pass(LEASE.dividedBy(3));
        assertThat(text.getReceivedOnNext()).isEmpty();
        assertThat(nested.expectTerminalError()).isInstanceOf(LockLostException.class);
        world.pass(SECOND);
        world.on(Operation.RENEW).none();
        world.subscribe(world.granted(world.rival.adopt(world.only(text))).release());
    }

    @Test
    void aLostLeaseCannotBeAdopted() {
        LockLease lease = world.granted(world.lock().acquire());
        String text = exported(lease);
        world.pass(LEASE);
        assertThat(world.subscribe(world.rival.adopt(text)).expectTerminalError())
                .isInstanceOfSatisfying(LockLostException.class, error -> {
                    assertThat(error.lockName()).isEqualTo(NAME);
                    assertThat(error.fencingToken()).isEqualTo(lease.fencingToken());
                    assertThat(error).hasMessageContaining("did not hold it any more when it was adopted");
                });
        assertThat(isFree()).isTrue();
    }

    @Test
    void twoAdoptersShareTheTokenAndTheReleaseOfOneIsTheLossOfTheOther() {
        String text = exported(world.granted(world.lock().acquire()));
        LockLease one = world.granted(world.rival.adopt(text));
        LockLease two = world.granted(world.client.adopt(text));
        assertThat(one.fencingToken()).isEqualTo(two.fencingToken());
        world.subscribe(one.release());
        world.pass(LEASE);
        assertThat(two.isValid()).isFalse();
    }

    /** The adopter does not count the exporter's attempts as its own. */
    @Test
    void aLeaseThatNeededSeveralAttemptsCanBeAdopted() {
        LockLease adopted = world.granted(world.rival.adopt(exportedAtTheThirdAttempt()));
        assertThat(adopted.isValid()).isTrue();
        world.subscribe(adopted.release());
        assertThat(isFree()).isTrue();

        String text = exportedAtTheThirdAttempt();
        world.on(Operation.RENEW).next(Fault.lostRequest());
        TestSubscriber<LockLease> failed = world.subscribe(world.client.adopt(text));
        world.pass(OPERATION_TIMEOUT);
        assertThat(failed.expectTerminalError()).isInstanceOf(LockBackendException.class);
        world.pass(SECOND);
        assertThat(isFree()).isTrue();
    }

    private String exportedAtTheThirdAttempt() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.lostRequest(), Fault.lostRequest());
        TestSubscriber<LockLease> acquired = world.subscribe(world.lock().acquire());
        world.pass(OPERATION_TIMEOUT.multipliedBy(3));
        return exported(world.only(acquired));
    }

    @Test
    void anAdoptionThatFailsOrIsCancelledReleasesTheLock() {
        String text = exported(world.granted(world.lock().acquire()));
        world.on(Operation.RENEW).next(Fault.lostRequest());
        TestSubscriber<LockLease> failed = world.subscribe(world.client.adopt(text));
        world.pass(OPERATION_TIMEOUT);
        assertThat(failed.expectTerminalError()).isInstanceOf(LockBackendException.class);
        world.pass(SECOND);
        assertThat(isFree()).isTrue();
    }

    @Test
    void anAdoptionThatIsCancelledBeforeItsFirstRequestReleasesTheLock() {
        String text = exported(world.granted(world.rivalLock().acquire()));
        TestSubscriber<LockLease> adoption = TestSubscriber.create();
        LockClient adopter = world.client(builder -> builder.listener(event -> {
            if (event instanceof LockEvent.AcquireStarted) {
                adoption.cancel();
            }
        }));

        adopter.adopt(text).subscribe(adoption);
        world.pass(Duration.ZERO);

        assertThat(isFree()).isTrue();
        assertThat(adopter.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
        world.subscribe(adopter.close());
    }

    @Test
    void cancellingAtAThousandInstantsLeavesNothing() {
        for (int round = 0; round < 1_000; round++) {
            Random random = new Random(round);
            String text = exported(world.granted(world.rivalLock().acquire()));
            world.on(Operation.RENEW).always(Fault.delayedReply(Duration.ofMillis(random.nextInt(20))));
            TestSubscriber<Object> work = world.subscribe(world.client
                    .adopt(text)
                    .flatMap(lease ->
                            Mono.never().doFinally(end -> lease.release().subscribe())));
            world.pass(Duration.ofMillis(random.nextInt(20)));
            work.cancel();
            world.pass(Duration.ofMillis(30));
            world.on(Operation.RENEW).none();
            assertThat(world.store.contents()).as("round %d", round).isEmpty();
        }
    }

    @Test
    void theRestOfALeastHoldTimeIsHandedOn() {
        LockLease lease = world.granted(world.lock(options -> options.minHoldTime(LEASE.multipliedBy(2)))
                .acquire());
        world.pass(SECOND);
        LockLease adopted = world.granted(world.rival.adopt(exported(lease)));
        world.subscribe(adopted.release());
        world.pass(LEASE.multipliedBy(2).minus(SECOND).minus(MOMENT));
        assertThat(isFree()).isFalse();
        world.pass(SECOND);
        assertThat(isFree()).isTrue();
    }

    @Test
    void anAdoptionThatIsCancelledKeepsTheLockForTheRestOfTheLeastHoldTime() {
        String text = exportedWithALeastHoldTime();
        world.on(Operation.RENEW).next(Fault.delayedReply(MOMENT));
        TestSubscriber<LockLease> adoption = world.subscribe(world.client.adopt(text));

        adoption.cancel();

        theLockIsKeptForTheRestOfTheLeastHoldTime();
    }

    @Test
    void anAdoptionThatIsNotAnsweredKeepsTheLockForTheRestOfTheLeastHoldTime() {
        String text = exportedWithALeastHoldTime();
        world.on(Operation.RENEW).next(Fault.lostReply());
        TestSubscriber<LockLease> adoption = world.subscribe(world.client.adopt(text));

        world.pass(OPERATION_TIMEOUT);

        assertThat(adoption.expectTerminalError()).isInstanceOf(LockBackendException.class);
        theLockIsKeptForTheRestOfTheLeastHoldTime();
    }

    @Test
    void anAdoptionThatIsCancelledAtAnyInstantKeepsALockOfEachKindForTheRestOfTheLeastHoldTime() {
        for (int round = 0; round < 1_000; round++) {
            Random random = new Random(round);
            Duration minimum = Duration.ofMillis(3_000 + random.nextInt(60_000));
            LockLease lease = world.granted(anyLock(random)
                    .with(LockOptions.builder().minHoldTime(minimum).build())
                    .acquire());
            String text = exported(lease);
            world.on(Operation.RENEW).next(anyFault(random));
            TestSubscriber<LockLease> adoption = world.subscribe(world.client.adopt(text));
            Duration passed = Duration.ofMillis(random.nextInt(2_500));
            world.pass(passed);
            adoption.cancel();
            adoption.getReceivedOnNext().forEach(adopted -> world.subscribe(adopted.release()));

            world.pass(minimum.minus(passed).minus(MOMENT));
            assertThat(isHeld()).as("round %d", round).isTrue();
            world.pass(OPERATION_TIMEOUT.multipliedBy(3));
            assertThat(isHeld()).as("round %d", round).isFalse();
            assertThat(world.client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
            world.on(Operation.RENEW).none();
        }
    }

    private ReactiveLock anyLock(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> world.rivalLock();
            case 1 -> world.rival.readWriteLock(NAME).readLock();
            case 2 -> world.rival.readWriteLock(NAME).writeLock();
            default -> world.rival.semaphore(NAME, 3).permits(1 + random.nextInt(3));
        };
    }

    private static Fault anyFault(Random random) {
        Duration delay = Duration.ofMillis(random.nextInt(1_900));
        return switch (random.nextInt(4)) {
            case 0 -> Fault.lostRequest();
            case 1 -> Fault.lostReply();
            case 2 -> Fault.delayedRequest(delay);
            default -> Fault.delayedReply(delay);
        };
    }

    /** Another request first: it removes leases that are over. */
    private boolean isHeld() {
        world.subscribe(world.granted(world.rival.lock("another").acquire()).release());
        return !world.store.contents().isEmpty();
    }

    /** Otherwise the withdrawal of the first adoption would end the lease of the second one, without its knowledge. */
    @Test
    void anAdoptionThatHasFailedCannotBeRepeatedWithinTheLeastHoldTime() {
        String text = exportedWithALeastHoldTime();
        world.on(Operation.RENEW).next(Fault.lostReply());
        TestSubscriber<LockLease> adoption =
                world.subscribe(world.client.adopt(text).retry(1));

        world.pass(OPERATION_TIMEOUT);

        assertThat(adoption.expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("this client has released it");
        theLockIsKeptForTheRestOfTheLeastHoldTime();
        assertThat(world.subscribe(world.client.adopt(text)).expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("did not hold it any more");
    }

    /** The claim is released when its request is answered, and may be adopted again before that. */
    @Test
    void anAdoptionThatWasCancelledDuringItsRequestCannotBeRepeatedWithinTheLeastHoldTime() {
        String text = exportedWithALeastHoldTime();
        world.on(Operation.RENEW).next(Fault.delayedReply(SECOND));
        world.subscribe(world.client.adopt(text)).cancel();

        TestSubscriber<LockLease> repeated = world.subscribe(world.client.adopt(text));
        world.pass(SECOND);

        assertThat(repeated.expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("this client has released it");
        theLockIsKeptForTheRestOfTheLeastHoldTime();
    }

    @Test
    void aLeaseThatWasReleasedCannotBeAdoptedWithinItsLeastHoldTime() {
        String text = exportedWithALeastHoldTime();
        world.subscribe(world.granted(world.client.adopt(text)).release());

        assertThat(world.subscribe(world.client.adopt(text)).expectTerminalError())
                .isInstanceOf(LockLostException.class)
                .hasMessageContaining("this client has released it");
        theLockIsKeptForTheRestOfTheLeastHoldTime();
    }

    private String exportedWithALeastHoldTime() {
        LockOptions options =
                LockOptions.builder().minHoldTime(LEASE.multipliedBy(2)).build();
        return exported(world.granted(world.rivalLock().with(options).acquire()));
    }

    private void theLockIsKeptForTheRestOfTheLeastHoldTime() {
        world.pass(LEASE.plus(SECOND));
        assertThat(isFree()).isFalse();
        world.pass(LEASE);
        assertThat(isFree()).isTrue();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void theLeaseDurationIsTheExporters() {
        LockLease lease = world.granted(world.lock(options -> options.leaseDuration(LEASE.multipliedBy(2)))
                .acquire());
        LockLease adopted = world.granted(world.rival.adopt(exported(lease)));
        assertThat(adopted.remaining()).isGreaterThan(LEASE);
        world.subscribe(adopted.release());
    }

    @Test
    void allKindsCanBeHandedOn() {
        LockOptions options = LockOptions.builder().build();
        for (var lock : new ReactiveLock[] {
            world.client.readWriteLock(NAME).readLock(),
            world.client.readWriteLock(NAME).writeLock(),
            world.client.semaphore(NAME, 3)
        }) {
            LockLease lease = world.granted(lock.with(options).acquire());
            LockLease adopted = world.granted(world.rival.adopt(exported(lease)));
            assertThat(adopted.fencingToken()).isEqualTo(lease.fencingToken());
            world.subscribe(adopted.release()).expectTerminalSignal();
            assertThat(world.store.contents()).isEmpty();
        }
    }

    @Test
    void anInvalidTextIsRefused() {
        assertThat(world.subscribe(world.client.adopt("hello")).expectTerminalError())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the text of an exported lease was refused");
    }

    /** Otherwise the number of the adopter's next attempt would overflow, and its own export would never signal. */
    @Test
    void aTextWithAnAttemptThatHasNoNextOneIsRefused() {
        String text = exported(world.granted(world.lock().acquire()));
        TestSubscriber<LockLease> adoption = world.subscribe(world.rival.adopt(withAttempt(Integer.MAX_VALUE, text)));
        assertThat(adoption.expectTerminalError())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the text of an exported lease was refused");
        world.subscribe(world.granted(world.rival.adopt(text)).release());
    }

    private static String withAttempt(int attempt, String text) {
        int from = "holdfast-lease-1.".length();
        byte[] bytes = Base64.getUrlDecoder().decode(text.substring(from, text.lastIndexOf('.')));
        String[] parts = new String(bytes, StandardCharsets.UTF_8).split("\n", 9);
        parts[3] = Integer.toString(attempt);
        byte[] changed = String.join("\n", parts).getBytes(StandardCharsets.UTF_8);
        CRC32 sum = new CRC32();
        sum.update(changed);
        String encoded = Base64.getUrlEncoder().withoutPadding().encodeToString(changed);
        return "%s%s.%08x".formatted(text.substring(0, from), encoded, sum.getValue());
    }

    @Test
    void aClosedClientAdoptsNothing() {
        String text = exported(world.granted(world.lock().acquire()));
        LockClient closed = world.client(builder -> builder);
        world.subscribe(closed.close());
        assertThat(world.subscribe(closed.adopt(text)).expectTerminalError()).isInstanceOf(LockClosedException.class);
        world.subscribe(world.granted(world.rival.adopt(text)).release());
    }

    @Test
    void aBackEndAdoptsNoKindOfLockThatItDoesNotHave() {
        String text = exported(world.granted(world.client.semaphore(NAME, 2).acquire()));
        LockBackend mutexes = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return world.store;
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(LockFeature.HAND_ON);
            }
        };
        LockClient client = LockClient.builder(mutexes)
                .timer(world.clock)
                .closeBackend(false)
                .build();
        assertThat(world.subscribe(client.adopt(text)).expectTerminalError())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("cannot make semaphores");
        world.subscribe(client.close());
        world.subscribe(world.granted(world.rival.adopt(text)).release());
    }

    @Test
    void aBackEndThatTiesClaimsToTheirClientRefuses() {
        LockClient process = LockClient.builder(
                        LocalHandOver.builder(world.store).timer(world.clock).build())
                .timer(world.clock)
                .closeBackend(false)
                .build();
        LockLease lease = world.granted(process.lock(NAME).acquire());
        assertThat(world.subscribe(lease.export()).expectTerminalError())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("back end memory cannot hand a lease on to another process");
        assertThat(lease.isValid()).isTrue();
        assertThat(world.subscribe(process.adopt("any")).expectTerminalError())
                .isInstanceOf(UnsupportedOperationException.class);
        world.subscribe(lease.release());
        world.subscribe(process.close());
    }
}
