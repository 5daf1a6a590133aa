package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static io.holdfast.semantics.World.NAME;
import static io.holdfast.semantics.World.OPERATION_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LeaderElection;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockHolder;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

class LeaderElectionTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @RegisterExtension
    final World world = new World();

    /** Leases of all terms, in their order. */
    private final List<LockLease> terms = new ArrayList<>();

    private LeaderElection election() {
        return world.client.election(NAME);
    }

    private Flux<Long> endless(LeaderElection election) {
        return election.lead(lease -> {
            terms.add(lease);
            return Flux.concat(Mono.just(lease.fencingToken()), Mono.never());
        });
    }

    private <T> TestSubscriber<T> subscribe(Flux<T> candidate) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        candidate.subscribe(subscriber);
        world.pass(Duration.ZERO);
        return subscriber;
    }

    @Test
    void elementsOfATermAreEmittedAndItsEndReleasesTheLock() {
        TestPublisher<String> term = TestPublisher.create();
        TestSubscriber<String> candidate = subscribe(election().lead(lease -> term.flux()));
        term.next("a", "b");
        assertThat(candidate.getReceivedOnNext()).containsExactly("a", "b");
        assertThat(world.store.contents()).isNotEmpty();

        term.complete();
        world.pass(Duration.ZERO);
        assertThat(candidate.isTerminatedComplete()).isTrue();
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void theNextCandidateLeadsWhenTheLeaderResigns() {
        TestSubscriber<Long> first = subscribe(endless(election()));
        TestSubscriber<Long> second = subscribe(endless(world.rival.election(NAME)));
        assertThat(first.getReceivedOnNext()).hasSize(1);
        assertThat(second.getReceivedOnNext()).isEmpty();

        first.cancel();
        world.pass(Duration.ZERO);
        assertThat(second.getReceivedOnNext()).hasSize(1);
        assertThat(second.getReceivedOnNext().get(0))
                .isGreaterThan(first.getReceivedOnNext().get(0));
        second.cancel();
        world.pass(Duration.ZERO);
        assertThat(world.store.contents()).isEmpty();
    }

    @Test
    void aLeaderLosesBeforeARivalBeginsAndStandsAgain() {
        List<String> story = new ArrayList<>();
        TestSubscriber<Object> leader = subscribe(election()
                .lead(lease -> Mono.never()
                        .doOnSubscribe(it -> story.add("one leads"))
                        .doOnCancel(() -> story.add("one loses"))));
        TestSubscriber<Object> rival = subscribe(world.rival
                .election(NAME)
                .lead(lease -> Mono.never()
                        .doOnSubscribe(it -> story.add("rival leads"))
                        .doOnCancel(() -> story.add("rival loses"))));
        for (Operation operation : List.of(Operation.RENEW, Operation.RELEASE)) {
            world.on(operation).always(Fault.lostRequest());
        }
        world.pass(LEASE.plusSeconds(1));
        assertThat(story).containsExactly("one leads", "one loses", "rival leads");

        world.faulty.heal();
        world.pass(SECOND);
        rival.cancel();
        world.pass(Duration.ZERO);
        assertThat(story).containsExactly("one leads", "one loses", "rival leads", "rival loses", "one leads");
        leader.cancel();
    }

    @Test
    void eachTermOfACandidateHasAHigherToken() {
        TestSubscriber<Long> candidate = subscribe(endless(election()));
        world.takeAway(NAME);
        world.pass(LEASE);
        assertThat(candidate.isTerminated()).isFalse();
        assertThat(candidate.getReceivedOnNext()).hasSize(2);
        assertThat(candidate.getReceivedOnNext()).isSorted().doesNotHaveDuplicates();
        assertThat(terms.get(0).isValid()).isFalse();
        assertThat(terms.get(1).isValid()).isTrue();
        candidate.cancel();
    }

    @Test
    void demandCountsOverAllTerms() {
        TestSubscriber<Long> candidate =
                TestSubscriber.builder().initialRequest(1).build();
        endless(election()).subscribe(candidate);
        world.pass(Duration.ZERO);
        world.takeAway(NAME);
        world.pass(LEASE);
        assertThat(terms).as("stands without demand for elements").hasSize(1);
        candidate.request(1);
        world.pass(LEASE);
        assertThat(candidate.getReceivedOnNext()).hasSize(2);
        candidate.cancel();
    }

    @Test
    void aCandidateWhoseLeaseIsLostBeforeItsTermBeginsStandsAgain() {
        ScriptedStore store = new ScriptedStore();
        AtomicInteger grants = new AtomicInteger();
        LockClient client = LockClient.builder(store)
                .timer(world.clock)
                .listener(
                        event -> { // a listener that takes long
                            if (event instanceof LockEvent.Acquired && grants.incrementAndGet() == 1) {
                                store.signals.emitNext(
                                        new WatchSignal.Lost(LossReason.EXPIRED), Sinks.EmitFailureHandler.FAIL_FAST);
                            }
                        })
                .build();
        TestSubscriber<Long> candidate = subscribe(endless(client.election(NAME)));
        assertThat(terms).isEmpty();

        world.pass(SECOND);

        assertThat(candidate.getReceivedOnNext()).hasSize(1);
        assertThat(terms)
                .singleElement()
                .satisfies(lease -> assertThat(lease.isValid()).isTrue());
        candidate.cancel();
        world.subscribe(client.close());
    }

    @Test
    void nothingHappensBeforeAnElementIsRequested() {
        TestSubscriber<Long> candidate =
                TestSubscriber.builder().initialRequest(0).build();
        endless(election()).subscribe(candidate);
        world.pass(SECOND);
        assertThat(world.on(Operation.TRY_ACQUIRE).calls()).isZero();
        candidate.cancel();
    }

    @Test
    void aTermThatFailsReleasesTheLockAndEndsTheCandidate() {
        RuntimeException broken = new IllegalStateException("broken");
        assertThat(subscribe(election().lead(lease -> Mono.error(broken))).expectTerminalError())
                .isSameAs(broken);
        assertThat(world.store.contents()).isEmpty();
        assertThat(subscribe(election().lead(lease -> {
                            throw broken;
                        }))
                        .expectTerminalError())
                .isSameAs(broken);
        assertThat(world.store.contents()).isEmpty();
        assertThat(subscribe(election().lead(lease -> null)).expectTerminalError())
                .hasMessage("the term of a leader must not be null");
    }

    @Test
    void aTermThatDetectsItsOwnLossStandsAgain() {
        TestSubscriber<Long> candidate = subscribe(election().lead(lease -> {
            terms.add(lease);
            return terms.size() == 1
                    ? Mono.delay(SECOND, world.clock).then(lease.renew()).thenReturn(0L)
                    : Mono.just(lease.fencingToken());
        }));
        world.takeAway(NAME);
        world.pass(SECOND.multipliedBy(2));
        assertThat(candidate.isTerminatedComplete()).isTrue();
        assertThat(candidate.getReceivedOnNext()).containsExactly(terms.get(1).fencingToken());
    }

    @Test
    void aTermThatLosesAnotherLockEndsTheCandidate() {
        LockLostException other = new LockLostException("other", LossReason.EXPIRED, 1);
        assertThat(subscribe(election().lead(lease -> Mono.error(other))).expectTerminalError())
                .isSameAs(other);
    }

    @Test
    void aTermThatEndsBeforeItDetectsItsLossFailsWithTheLoss() {
        TestPublisher<String> term = TestPublisher.create();
        TestSubscriber<String> candidate = subscribe(election().lead(lease -> term.flux()));
        world.takeAway(NAME);
        term.complete();
        world.pass(Duration.ZERO);
        assertThat(candidate.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void aCandidateSurvivesAnOutageOfTheBackEnd() {
        for (Operation operation : Operation.values()) {
            world.on(operation).always(Fault.lostRequest());
        }
        TestSubscriber<Long> candidate = subscribe(endless(election()));
        world.pass(LEASE.multipliedBy(10));
        assertThat(candidate.isTerminated()).isFalse();
        assertThat(world.events(LockEvent.AcquireFailed.class)).hasSizeGreaterThan(5);

        world.faulty.heal();
        world.pass(LEASE);
        assertThat(candidate.getReceivedOnNext()).hasSize(1);
        candidate.cancel();
    }

    @Test
    void aPermanentFailureEndsTheCandidate() {
        world.on(Operation.TRY_ACQUIRE).next(Fault.refused());
        assertThat(subscribe(endless(election())).expectTerminalError())
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.isTransient()).isFalse());
        world.pass(OPERATION_TIMEOUT);
    }

    @Test
    void aWaitTimeoutEndsTheCandidate() {
        LockLease held = world.granted(world.rivalLock().acquire());
        LockOptions options = LockOptions.builder().waitTimeout(SECOND).build();
        TestSubscriber<Long> candidate = subscribe(endless(election().with(options)));
        world.pass(SECOND);
        assertThat(candidate.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        world.subscribe(held.release());
    }

    @Test
    void closingTheClientEndsLeadersWaitersAndPauses() {
        LockClient closing = world.client(builder -> builder);
        TestSubscriber<Long> leader = subscribe(endless(closing.election(NAME)));
        TestSubscriber<Long> waiter = subscribe(endless(closing.election(NAME)));
        TestSubscriber<Long> pausing = subscribe(endless(closing.election("other")));
        world.takeAway("other");
        LockOptions slow = LockOptions.builder()
                .backoff(io.holdfast.Backoff.fixed(Duration.ofHours(1)))
                .build();
        TestSubscriber<Long> pausingLong =
                subscribe(endless(closing.election("slow").with(slow)));
        world.takeAway("slow");
        world.pass(LEASE.dividedBy(2));
        assertThat(pausingLong.isTerminated()).isFalse();

        world.subscribe(closing.close());
        world.pass(OPERATION_TIMEOUT);
        for (TestSubscriber<Long> each : List.of(leader, waiter, pausing, pausingLong)) {
            assertThat(each.expectTerminalError()).isInstanceOf(LockClosedException.class);
        }
        assertThat(closing.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
    }

    @Test
    void aCandidateInsideALostLeaseOfTheSameLockEnds() {
        TestSubscriber<Long> inside = TestSubscriber.create();
        TestSubscriber<Object> outer = world.subscribe(world.lock()
                .withLock(lease -> Mono.deferContextual(context -> {
                    endless(election()).contextWrite(context).subscribe(inside);
                    return Mono.never();
                })));
        assertThat(inside.getReceivedOnNext()).as("a nested view").hasSize(1);
        world.takeAway(NAME);
        world.pass(LEASE);
        assertThat(outer.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(inside.expectTerminalError()).isInstanceOf(LockLostException.class);
    }

    @Test
    void cancellingAtAThousandInstantsLeavesNothing() {
        for (int round = 0; round < 1_000; round++) {
            Random random = new Random(round);
            LockClient client = world.client(builder -> builder);
            List<TestSubscriber<Long>> candidates = new ArrayList<>();
            world.on(Operation.TRY_ACQUIRE).always(Fault.delayedReply(Duration.ofMillis(random.nextInt(30))));
            for (int i = 0; i < 3; i++) {
                candidates.add(subscribe(endless(client.election(NAME))));
                world.pass(Duration.ofMillis(random.nextInt(20)));
            }
            if (random.nextBoolean() && world.claims.containsKey(NAME)) {
                world.takeAway(NAME);
            }
            for (TestSubscriber<Long> each : candidates) {
                world.pass(Duration.ofMillis(random.nextInt(12_000)));
                each.cancel();
            }
            world.pass(Duration.ofMillis(100));
            assertThat(client.toString()).as("round %d", round).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
            assertThat(world.store.contents()).as("round %d", round).isEmpty();
            world.subscribe(client.close());
        }
    }

    @Test
    void manyCandidatesLeadOneAtATimeAndAllLead() {
        AtomicInteger leading = new AtomicInteger();
        List<TestSubscriber<Long>> candidates = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            LockClient client = i % 2 == 0 ? world.client : world.rival;
            candidates.add(subscribe(client.election(NAME)
                    .lead(lease -> Mono.delay(SECOND, world.clock)
                            .doOnSubscribe(
                                    it -> assertThat(leading.incrementAndGet()).isEqualTo(1))
                            .doOnTerminate(leading::decrementAndGet))));
        }
        world.pass(SECOND.multipliedBy(11));
        assertThat(candidates).allMatch(TestSubscriber::isTerminatedComplete);
    }

    @Test
    void theLeaderIsVisibleToOtherClients() {
        LeaderElection seen = world.rival.election(NAME);
        assertThat(world.subscribe(seen.leader()).isTerminatedComplete()).isTrue();
        TestSubscriber<Long> candidate = subscribe(endless(election()));
        LockHolder leader = world.only(world.subscribe(seen.leader()));
        assertThat(leader.fencingToken()).isEqualTo(terms.get(0).fencingToken());
        assertThat(leader.claimId()).isEqualTo(world.claims.get(NAME).id());
        candidate.cancel();
        world.pass(Duration.ZERO);
        assertThat(world.subscribe(seen.leader()).getReceivedOnNext()).isEmpty();
    }

    @Test
    void theAnswerArrivesOnTheClientsScheduler() {
        Scheduler signals = Schedulers.newSingle("signals");
        LockClient client = world.client(builder -> builder.deliverOn(signals));
        LockLease lease = world.granted(world.rivalLock().acquire());
        String thread = client.election(NAME)
                .leader()
                .map(leader -> Thread.currentThread().getName())
                .block(Duration.ofSeconds(10));
        assertThat(thread).startsWith("signals");
        world.subscribe(lease.release());
        world.subscribe(client.close());
        signals.dispose();
    }

    @Test
    void theRequestForTheLeaderFailsLikeAnyOther() {
        LockClient closed = world.client(builder -> builder);
        world.subscribe(closed.close());
        assertThat(world.subscribe(closed.election(NAME).leader()).expectTerminalError())
                .isInstanceOf(LockClosedException.class);

        LockBackend mute = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return world.store;
            }

            @Override
            public Set<LockFeature> features() {
                return Set.of(LockFeature.SEMAPHORE, LockFeature.READ_WRITE, LockFeature.MIN_HOLD);
            }
        };
        LockClient client =
                LockClient.builder(mute).timer(world.clock).closeBackend(false).build();
        assertThat(world.subscribe(client.election(NAME).leader()).expectTerminalError())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("back end memory cannot report the leader, it has only [READ_WRITE, SEMAPHORE, MIN_HOLD]");
        world.subscribe(client.close());
    }

    @Test
    void anElectionHasTheNameAndOptionsOfItsLock() {
        LockOptions options = LockOptions.builder().leaseDuration(SECOND).build();
        assertThat(election().name()).isEqualTo(NAME);
        assertThat(election().with(options).toString()).startsWith("LeaderElection[stock/42, LockOptions[lease");
        assertThatThrownBy(() -> world.client.election(" ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> election().lead(null)).hasMessage("term");
    }
}
