package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.read.ListAppender;
import ch.qos.logback.core.spi.FilterReply;
import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockEvent.AcquireFailed;
import io.holdfast.LockEvent.AcquireStarted;
import io.holdfast.LockEvent.Acquired;
import io.holdfast.LockEvent.Lost;
import io.holdfast.LockEvent.Released;
import io.holdfast.LockEvent.Subject;
import io.holdfast.LockEvent.WithdrawalUnconfirmed;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockListener;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Each start is reported, and its end exactly once, whatever happens. */
class EventsTest {

    private static final LockOptions NOT_RENEWED =
            LockOptions.builder().autoRenew(false).build();

    @RegisterExtension
    final World world = new World();

    private List<Class<?>> kinds() {
        return world.events.stream().<Class<?>>map(Object::getClass).toList();
    }

    @Test
    void aSubscriberThatCancelsBeforeItsRequestHasNoEvents() {
        TestSubscriber<LockLease> subscriber =
                TestSubscriber.builder().initialRequest(0).build();
        world.lock().acquire().subscribe(subscriber);
        subscriber.cancel();

        assertThat(kinds()).isEmpty();
    }

    @Test
    void aCancellationDuringTheFailureEventCausesNoSecondEnd() {
        AtomicReference<TestSubscriber<LockLease>> leaving = new AtomicReference<>(TestSubscriber.create());
        LockClient client = world.client(builder -> builder.listener(event -> {
            if (event instanceof AcquireFailed) {
                leaving.get().cancel();
            }
        }));
        LockLease held = world.granted(world.rivalLock().acquire());
        client.lock(NAME)
                .with(LockOptions.builder().waitTimeout(Duration.ofSeconds(1)).build())
                .acquire()
                .subscribe(leaving.get());
        world.pass(Duration.ofSeconds(5));

        assertThat(kinds()).containsExactly(AcquireStarted.class, AcquireFailed.class);
        world.subscribe(held.release());
        world.subscribe(client.close());
    }

    @Test
    void anAcquisitionWhoseSchedulerIsDisposedHasFailed() {
        Scheduler gone = Schedulers.newSingle("gone");
        gone.dispose();
        LockClient client = world.client(builder -> builder.deliverOn(gone));
        TestSubscriber<LockLease> refused = world.subscribe(client.lock(NAME).acquire());

        assertThat(refused.isTerminatedError()).isTrue();
        assertThat(kinds()).containsExactly(AcquireStarted.class, AcquireFailed.class);
        world.subscribe(client.close());
    }

    @Test
    void aLeaseThatItsSubscriberDropsIsReleasedWhenTheCancellationArrives() {
        LockLease holder = world.granted(world.rivalLock().acquire());
        Leaving leaving = new Leaving();
        world.lock().acquire().subscribe(leaving);
        leaving.isMarked = true;
        world.subscribe(holder.release());
        leaving.subscription.cancel();

        assertThat(kinds()).containsExactly(AcquireStarted.class, Acquired.class, Released.class);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aLeaseThatEndedBeforeItWasHandedOutHasNoEvents() {
        Queue<Runnable> deliveries = new ArrayDeque<>();
        Scheduler slow = Schedulers.fromExecutor(deliveries::add);
        LockClient client = world.client(builder -> builder.deliverOn(slow).options(NOT_RENEWED));
        TestSubscriber<LockLease> acquiring = world.subscribe(client.lock(NAME).acquire());
        world.pass(LEASE);
        deliveries.remove().run();
        world.pass(Duration.ZERO);
        assertThat(kinds()).containsExactly(AcquireStarted.class);
        deliveries.remove().run();

        LockLease lease = world.only(acquiring);
        assertThat(kinds()).containsExactly(AcquireStarted.class, Acquired.class);
        assertThat(lease.isValid()).isTrue();
        world.subscribe(lease.release());
        assertThat(kinds()).containsExactly(AcquireStarted.class, Acquired.class, Released.class);
        world.subscribe(client.close());
    }

    @Test
    void aClosedClientFailsItsAcquisitions() {
        world.subscribe(world.client.close());
        world.subscribe(world.lock().acquire());

        assertThat(kinds()).containsExactly(AcquireStarted.class, AcquireFailed.class);
        assertThat(world.events(AcquireFailed.class).get(0).error()).isInstanceOf(LockClosedException.class);
    }

    @Test
    void aLossThatOvertakesTheGrantIsReportedAfterIt() {
        List<LockEvent> reported = new ArrayList<>();
        AtomicReference<LockClient> client = new AtomicReference<>();
        client.set(world.client(builder -> builder.listener(event -> {
            if (event instanceof Acquired) {
                Disposable unused = client.get().close().subscribe();
            }
            reported.add(event);
        })));
        world.subscribe(client.get().lock(NAME).acquire());

        assertThat(reported).hasExactlyElementsOfTypes(AcquireStarted.class, Acquired.class, Lost.class);
    }

    @Test
    void aLeaseThatAClosedClientCannotFreeIsLostAndItsWithdrawalUnconfirmed() {
        world.granted(world.lock().acquire());
        world.on(Operation.RELEASE).next(Fault.refused());
        world.subscribe(world.client.close());

        assertThat(kinds())
                .containsExactlyInAnyOrder(
                        AcquireStarted.class, Acquired.class, Lost.class, WithdrawalUnconfirmed.class);
        world.takeAway(NAME);
    }

    @Test
    void aPermanentFailureOfAWithdrawalIsNoWarning() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.refused());
        world.on(Operation.RELEASE).next(Fault.refused());

        List<ILoggingEvent> lines = logged(() -> world.subscribe(world.lock().acquire()));

        assertThat(kinds()).contains(AcquireFailed.class, WithdrawalUnconfirmed.class);
        assertThat(lines).noneMatch(it -> it.getLevel().isGreaterOrEqual(Level.WARN));
    }

    @Test
    void nestedAndRefusedAcquisitionsHaveNoEvents() {
        ReactiveLock once = world.lock(options -> options.reentrant(false));
        world.subscribe(world.lock()
                .withLock(world.lock()
                        .withLock(Mono.just(1))
                        .then(once.acquire().onErrorResume(IllegalStateException.class, refused -> Mono.empty()))));

        assertThat(kinds()).containsExactly(AcquireStarted.class, Acquired.class, Released.class);
    }

    @Test
    void theListenerGetsTheReleaseBeforeTheHolder() {
        LockLease lease = world.granted(world.lock().acquire());
        world.on(Operation.RELEASE).next(Fault.delayedReply(Duration.ofMillis(100)));
        List<Class<?>> reportedBefore = new ArrayList<>();
        world.subscribe(lease.release().doOnTerminate(() -> reportedBefore.addAll(kinds())));
        world.pass(Duration.ofMillis(100));

        assertThat(reportedBefore).containsExactly(AcquireStarted.class, Acquired.class, Released.class);
    }

    @Test
    void allListenersGetTheEventEvenIfTheFirstThrows() {
        List<LockEvent> second = new ArrayList<>();
        LockListener first = event -> {
            throw new IllegalStateException("broken");
        };
        LockClient client = world.client(builder -> builder.listener(first).listener(second::add));
        world.subscribe(client.lock(NAME).withLock(Mono.just(1)));

        assertThat(second).hasExactlyElementsOfTypes(AcquireStarted.class, Acquired.class, Released.class);
        world.subscribe(client.close());
    }

    @Test
    void eachEventNamesTheKindThePermitsAndTheClaim() {
        LockLease two =
                world.granted(world.client.semaphore("seats", 3).permits(2).acquire());
        String taking = world.client.report().holds().get(0).claimId();
        world.subscribe(two.release());
        LockLease writer =
                world.granted(world.client.readWriteLock("stock").writeLock().acquire());
        String writing = world.client.report().holds().get(0).claimId();
        world.subscribe(world.granted(writer.downgrade()).release());
        TestSubscriber<LockLease> leaving = TestSubscriber.create();
        world.client.lock(NAME).acquire().subscribe(leaving);
        leaving.cancel();
        world.pass(Duration.ZERO);

        assertThat(world.events.stream().map(LockEvent::subject).filter(it -> it.kind() != LockKind.MUTEX))
                .containsExactly(
                        new Subject("seats", LockKind.SEMAPHORE, 2, taking),
                        new Subject("seats", LockKind.SEMAPHORE, 2, taking),
                        new Subject("seats", LockKind.SEMAPHORE, 2, taking),
                        new Subject("stock", LockKind.WRITE, 1, writing),
                        new Subject("stock", LockKind.WRITE, 1, writing),
                        new Subject("stock", LockKind.WRITE, 1, writing),
                        new Subject("stock", LockKind.WRITE, 1, writing));
        assertThat(world.events.stream().filter(it -> it.lockName().equals(NAME)))
                .hasSize(2)
                .extracting(it -> it.subject().claimId())
                .doesNotContain("")
                .containsOnly(
                        world.events.get(world.events.size() - 1).subject().claimId());
    }

    @Test
    void eachEventIsLoggedOnce() {
        List<ILoggingEvent> lines = logged(() -> {
            LockLease lease = world.granted(world.lock().acquire());
            world.pass(Duration.ofSeconds(3));
            world.subscribe(lease.release());
        });

        assertThat(lines)
                .extracting(it -> it.getFormattedMessage().replaceFirst("claim [^],]+", "claim ID"))
                .containsExactly(
                        "AcquireStarted[subject=mutex 'stock/42', claim ID]",
                        "Acquired[subject=mutex 'stock/42', claim ID, fencingToken=1, waited=PT0S, attempts=1]",
                        "Released[subject=mutex 'stock/42', claim ID, fencingToken=1, held=PT3S]");
    }

    @Test
    void renewalsThatFailAgainAndAgainAreLoggedOnceInFiveSeconds() {
        LockLease lease = world.granted(world.lock().acquire());
        world.on(Operation.RENEW).always(Fault.lostRequest());

        List<String> warnings = logged(() -> world.pass(LEASE)).stream()
                .filter(it -> it.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .filter(it -> !it.contains("lost after"))
                .toList();

        int failures = world.events(LockEvent.RenewalFailed.class).size();
        assertThat(lease.isValid()).isFalse();
        assertThat(failures).isGreaterThan(8);
        assertThat(warnings).hasSizeBetween(2, 5);
        assertThat(warnings.get(0)).startsWith("renewal of 1 lease(s) failed");
        assertThat(warnings.get(1)).contains("renewals failed since the last such line");
    }

    /** As Log4j does with {@code ignoreExceptions="false"}. */
    @Test
    void aLogThatThrowsDelaysNeitherALossNorARenewal() {
        Logger log = (Logger) LoggerFactory.getLogger("io.holdfast.LockClient");
        TurboFilter throwing = new TurboFilter() {
            @Override
            public FilterReply decide(
                    Marker marker, Logger logger, Level level, String format, Object[] params, Throwable thrown) {
                if (logger == log && level == Level.WARN) {
                    throw new IllegalStateException("the disk of the log is full");
                }
                return FilterReply.NEUTRAL;
            }
        };
        log.getLoggerContext().addTurboFilter(throwing);
        try {
            LockLease renewed = world.granted(world.client.lock("renewed").acquire());
            world.on(Operation.RENEW).next(Fault.lostRequest());
            world.pass(LEASE.multipliedBy(2));
            assertThat(renewed.isValid()).isTrue();
            world.subscribe(renewed.release());
            TestSubscriber<Object> work = world.subscribe(world.lock().withLock(Mono.never()));
            world.takeAway(NAME);
            world.pass(LEASE);
            assertThat(work.expectTerminalError()).isInstanceOf(LockLostException.class);
        } finally {
            log.getLoggerContext().getTurboFilterList().remove(throwing);
        }
    }

    private static List<ILoggingEvent> logged(Runnable work) {
        Logger log = (Logger) LoggerFactory.getLogger("io.holdfast.LockClient");
        Level before = log.getLevel();
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.addAppender(lines);
        log.setAdditive(false);
        log.setLevel(Level.DEBUG);
        try {
            work.run();
        } finally {
            log.setLevel(before);
            log.setAdditive(true);
            log.detachAppender(lines);
        }
        return lines.list;
    }

    /** Marks itself as cancelled, as operators do before they cancel, and drops what it gets from then on. */
    private static final class Leaving implements CoreSubscriber<LockLease>, Scannable {

        private boolean isMarked;
        private Subscription subscription = Operators.emptySubscription();

        @Override
        public void onSubscribe(Subscription s) {
            subscription = s;
            s.request(1);
        }

        @Override
        public void onNext(LockLease lease) {}

        @Override
        public void onError(Throwable error) {}

        @Override
        public void onComplete() {}

        @Override
        @SuppressWarnings("rawtypes") // as Scannable declares it
        public Object scanUnsafe(Attr key) {
            return key == Attr.CANCELLED ? isMarked : null;
        }
    }
}
