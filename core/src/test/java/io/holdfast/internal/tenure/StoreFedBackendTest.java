package io.holdfast.internal.tenure;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.LossReason;
import io.holdfast.internal.tenure.LocalClaim.Standing;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.WatchSignal.Granted;
import io.holdfast.spi.WatchSignal.Lost;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Single orders of events in the runs of one client. Its claims send what the engine sends. */
class StoreFedBackendTest {

    private static final LockKey KEY = LockKey.of(LockKind.MUTEX, "stock");
    private static final LockKey WRITE = LockKey.of(LockKind.WRITE, "stock");
    private static final LockKey READ = LockKey.of(LockKind.READ, "stock");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private interface Rules {
        StoreFed of(LockClaim any, LockRun run, Function<String, @Nullable LocalClaim> byId);
    }

    private static LongFunction<RunTable> with(Rules rules) {
        return now -> new RunTable(now) {
            @Override
            StoreFed rules(LockClaim of, LockRun run, Function<String, @Nullable LocalClaim> byId) {
                return rules.of(of, run, byId);
            }
        };
    }

    /** The memory back end behind a network: its answers, and its requests, may be late or lost. */
    private static final class Remote implements ForwardingLockBackend {

        final InMemoryLockBackend memory;
        final VirtualTimeScheduler clock;
        Duration roundTrip = Duration.ZERO;
        int lostEnds;
        Duration attemptsArriveAfter = Duration.ZERO;
        boolean losesDowngrades;
        boolean losesAnswersToDowngrades;
        int ends;
        Duration endsArriveAfter = Duration.ZERO;
        boolean losesAdoptions;
        Duration adoptionsArriveAfter = Duration.ZERO;
        UnaryOperator<WatchSignal> signals = it -> it;
        final Map<String, Sinks.Empty<Void>> failures = new HashMap<>();

        Remote(VirtualTimeScheduler clock) {
            this.clock = clock;
            memory = InMemoryLockBackend.create(clock);
        }

        @Override
        public LockBackend delegate() {
            return memory;
        }

        private <T> Mono<T> answered(Mono<T> answer) {
            return roundTrip.isZero() ? answer : answer.delayElement(roundTrip, clock);
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            if (claim.waiting() == Waiting.NONE && losesDowngrades) {
                return Mono.never();
            }
            if (claim.waiting() == Waiting.NONE && losesAnswersToDowngrades) {
                return memory.tryAcquire(claim).then(Mono.never());
            }
            return after(attemptsArriveAfter, answered(memory.tryAcquire(claim)));
        }

        private <T> Mono<T> after(Duration delay, Mono<T> request) {
            return delay.isZero() ? request : Mono.delay(delay, clock).then(request);
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return answered(memory.renew(claim));
        }

        @Override
        public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
            return Mono.defer(() -> {
                assertThat(++ends).as("ends of runs").isLessThan(50);
                return ends <= lostEnds
                        ? Mono.never()
                        : after(endsArriveAfter, answered(memory.endRun(claim, number, served)));
            });
        }

        @Override
        public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
            Mono<Renewal> answer = losesAdoptions ? Mono.never() : memory.adopt(claim, fencingToken);
            return after(adoptionsArriveAfter, answer);
        }

        /** The client loses a watch that the memory back end still takes for open. */
        void failWatch(String id) {
            Sinks.EmitResult unused = failures.get(id).tryEmitError(new IllegalStateException("cut"));
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            Sinks.Empty<Void> failure = Sinks.empty();
            failures.put(claim.id(), failure);
            Sinks.Many<WatchSignal> sent = Sinks.many().unicast().onBackpressureBuffer();
            return Flux.<WatchSignal>defer(() -> {
                        Disposable open = memory.watch(claim).subscribe(it -> sent.tryEmitNext(it), sent::tryEmitError);
                        return sent.asFlux().map(signals).doOnCancel(() -> {
                            if (!failure.asMono().toFuture().isDone()) {
                                open.dispose();
                            }
                        });
                    })
                    .takeUntilOther(failure.asMono());
        }
    }

    /** One claim of the client, as the engine drives it. */
    private final class Member {

        LockClaim claim;
        final List<WatchSignal> signals = new ArrayList<>();

        @Nullable
        LockAttempt answer;

        @Nullable
        Ownership released;

        boolean hasFailed;
        final Disposable watch;

        Member(String id) {
            this(id, LEASE);
        }

        Member(String id, Duration lease) {
            claim = LockClaim.first(key, id + made++ + "@here", lease, Waiting.QUEUE)
                    .withClient("A");
            watch = backend.watch(claim).subscribe(signals::add, error -> hasFailed = true);
            send();
        }

        private void send() {
            answer = null;
            backend.tryAcquire(claim).subscribe(it -> answer = it);
        }

        /** Sends an attempt to go on as a reader. */
        void downgrade() {
            decideToDowngrade();
            send();
        }

        void decideToDowngrade() {
            claim = new LockClaim(READ, claim.id(), LEASE, Waiting.NONE, claim.attempt() + 1, 0, 1, claim.client());
        }

        void attempt() {
            claim = claim.withAttempt(claim.attempt() + 1);
            send();
        }

        boolean owns() {
            return answer instanceof LockAttempt.Acquired || signals.stream().anyMatch(Granted.class::isInstance);
        }

        List<Long> tokens() {
            return signals.stream()
                    .filter(Granted.class::isInstance)
                    .map(it -> ((Granted) it).fencingToken())
                    .toList();
        }

        void confirm() {
            backend.renew(claim).subscribe();
        }

        Duration lease() {
            return signals.stream()
                    .filter(Granted.class::isInstance)
                    .map(it -> ((Granted) it).lease())
                    .findFirst()
                    .orElseThrow();
        }

        @CanIgnoreReturnValue
        Ownership release() {
            watch.dispose();
            backend.release(claim).subscribe(it -> released = it);
            pass(0);
            return released;
        }

        void withdraw() {
            backend.release(claim).subscribe(it -> released = it);
            pass(0);
        }
    }

    private int made;
    private LockKey key = KEY;
    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final Remote store = new Remote(clock);
    private StoreFedBackend backend = backend(RunTable::new);
    private final LockClaim holder = LockClaim.first(KEY, "holder@there", LEASE, Waiting.NONE);
    private final LockClaim writer = LockClaim.first(WRITE, "writer@there", LEASE, Waiting.NONE);

    private StoreFedBackend backend(LongFunction<RunTable> decisions) {
        return new StoreFedBackend(store, clock, lease -> LIMIT, decisions);
    }

    private void pass(long millis) {
        clock.advanceTimeBy(Duration.ofMillis(millis));
    }

    private void hold() {
        assertThat(store.memory.tryAcquire(holder).block()).isInstanceOf(LockAttempt.Acquired.class);
    }

    private void letGo() {
        assertThat(store.memory.release(holder).block()).isEqualTo(Ownership.HELD);
        pass(0);
    }

    private List<Member> members() {
        hold();
        return List.of(new Member("a"), new Member("b"), new Member("c"));
    }

    private List<Member> membersInARun() {
        List<Member> members = members();
        letGo();
        assertThat(members.get(0).owns()).isTrue();
        return members;
    }

    @AfterEach
    void close() {
        clock.dispose();
    }

    // A member that cannot be signalled.

    @Test
    void memberWithoutSignalsIsServedAloneAndInOrder() {
        List<Member> members = members();
        store.failWatch(members.get(0).claim.id());
        letGo();
        members.get(1).attempt();
        assertThat(members.get(1).owns()).isFalse();
        members.get(0).attempt();
        assertThat(members.get(0).owns()).isTrue();
        assertThat(members.get(0).release()).isEqualTo(Ownership.HELD);
        assertThat(members.get(1).owns()).isTrue();
        assertThat(members.get(1).release()).isEqualTo(Ownership.HELD);
        assertThat(members.get(2).owns()).isTrue();
        assertThat(members.get(2).release()).isEqualTo(Ownership.HELD);
        assertThat(store.ends).isLessThan(4);
    }

    @Test
    void memberInTheMiddleWithoutSignalsIsServedInOrder() {
        List<Member> members = membersInARun();
        store.failWatch(members.get(1).claim.id());
        assertThat(members.get(0).release()).isEqualTo(Ownership.HELD);
        assertThat(members.get(2).owns()).isFalse();
        members.get(1).attempt();
        assertThat(members.get(1).owns()).isTrue();
        assertThat(members.get(1).release()).isEqualTo(Ownership.HELD);
        assertThat(members.get(2).owns()).isTrue();
        assertThat(members.get(2).release()).isEqualTo(Ownership.HELD);
    }

    /** Its release is still on its way, so the back end takes it for a member. */
    @Test
    void memberThatIsOverHereIsPassedOver() {
        hold();
        LockClaim gone = LockClaim.first(KEY, "gone@here", LEASE, Waiting.QUEUE).withClient("A");
        store.memory.watch(gone).subscribe();
        store.memory.tryAcquire(gone).subscribe();
        Member last = new Member("last");
        letGo();
        last.attempt();
        assertThat(last.owns()).isTrue();
        assertThat(last.release()).isEqualTo(Ownership.HELD);
        assertThat(store.ends).isEqualTo(1);
        assertThat(store.memory.inspector().inspect("stock").collectList().block())
                .isEmpty();
    }

    @Test
    void runsThatAreOverAreForgotten() {
        RunTable[] made = new RunTable[1];
        backend = backend(now -> made[0] = new RunTable(now));
        membersInARun().forEach(Member::release);
        assertThat(made[0].over).hasSize(1);
        pass(LEASE.toMillis());
        membersInARun().forEach(Member::release);
        pass(LEASE.toMillis());
        var unused = made[0].release(holder, new Moment(clock.now(TimeUnit.NANOSECONDS), new ArrayList<>()));
        assertThat(made[0].over).isEmpty();
        assertThat(made[0].contents()).isEmpty();
    }

    // Slow and lost answers.

    @Test
    void slowRoundTripDoesNotHoldUpTheMembers() {
        List<Member> members = membersInARun();
        store.roundTrip = Duration.ofMillis(1_500);
        for (Member member : members) {
            pass(1_600);
            assertThat(member.owns()).as(member.claim.id()).isTrue();
            member.confirm();
            pass(3_000);
            member.release();
        }
        pass(10_000);
        assertThat(members.get(2).released).isEqualTo(Ownership.HELD);
    }

    /** The time of the first request is over, then that of the second. */
    @Test
    void endOfARunWithoutAnAnswerIsRepeated() {
        List<Member> members = membersInARun();
        store.lostEnds = 2;
        breakHold();
        pass(0);
        assertThat(store.ends).isEqualTo(1);
        pass(2 * LIMIT.toMillis() + 1_000);
        assertThat(store.ends).isGreaterThanOrEqualTo(3);
        assertThat(members.get(1).owns()).isTrue();
    }

    // Owners.

    @Test
    void ownerThatDidNotTakeItsGrantGetsItByItsNextAttempt() {
        List<Member> members = membersInARun();
        store.failWatch(members.get(0).claim.id());
        members.get(0).attempt();
        assertThat(members.get(0).answer).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(members.get(0).release()).isEqualTo(Ownership.HELD);
        assertThat(members.get(1).owns()).isTrue();
    }

    @Test
    void ownerThatNeverTookItsGrantWaitsAgain() {
        List<Member> members = membersInARun();
        Member first = members.get(0);
        pass(LEASE.toMillis() / 3);
        members.get(1).attempt();
        pass(0);
        first.attempt();
        assertThat(first.answer).isNotInstanceOf(LockAttempt.Acquired.class);
        for (Member other : members.subList(1, 3)) {
            pass(0);
            assertThat(other.owns()).isTrue();
            other.release();
        }
        first.signals.clear();
        for (int i = 0; i < 5 && !first.owns(); i++) {
            pass(1_000);
            first.attempt();
        }
        assertThat(first.owns()).isTrue();
        assertThat(first.release()).isEqualTo(Ownership.HELD);
    }

    @Test
    void breakIsALossThoughTheFirstMembersAreOver() {
        List<Member> members = membersInARun();
        members.get(0).release();
        assertThat(members.get(1).owns()).isTrue();
        breakHold();
        assertThat(members.get(1).signals).contains(new Lost(LossReason.NOT_HELD));
        assertThat(members.get(2).signals).noneMatch(Lost.class::isInstance);
        pass(0);
        assertThat(members.get(2).owns()).isTrue();
    }

    @Test
    void ownerIsToldOfABreakThoughNoMemberIsLeft() {
        List<Member> members = membersInARun();
        members.subList(1, 3).forEach(Member::withdraw);
        breakHold();
        assertThat(members.get(0).signals).contains(new Lost(LossReason.NOT_HELD));
    }

    /** The signals of the break and of the next grant are lost; then that run is broken too. */
    @Test
    void lossOfALaterRunIsALossOfTheRunBeforeIt() {
        boolean[] isCut = new boolean[1];
        store.signals = it -> isCut[0] && (it instanceof WatchSignal.LostRun || it instanceof WatchSignal.GrantedRun)
                ? new WatchSignal.Changed()
                : it;
        List<Member> members = membersInARun();
        isCut[0] = true;
        breakHold();
        members.get(2).watch.dispose();
        isCut[0] = false;
        breakHold();
        assertThat(members.get(0).signals).contains(new Lost(LossReason.NOT_HELD));
    }

    /** The signal of the break is lost, as when a connection is made anew. */
    @Test
    void grantOfAMemberAloneEndsTheRunBeforeIt() {
        store.signals = it -> it instanceof WatchSignal.LostRun ? new WatchSignal.Changed() : it;
        hold();
        Member first = new Member("a");
        Member second = new Member("b");
        letGo();
        assertThat(first.owns()).isTrue();
        breakHold();
        assertThat(first.signals).contains(new Lost(LossReason.NOT_HELD));
        assertThat(second.tokens()).hasSize(1);
        assertThat(first.release()).isEqualTo(Ownership.NOT_HELD);
        assertThat(second.tokens()).hasSize(1);
        assertThat(backend.renew(second.claim).block()).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void answerThatComesAfterItsRunIsForgottenServesNobody() {
        List<Member> members = membersInARun();
        members.get(0).confirm();
        Member last = members.get(2);
        store.roundTrip = Duration.ofSeconds(14);
        last.attempt();
        store.roundTrip = Duration.ZERO;
        members.get(0).release();
        pass(2_000);
        assertThat(members.get(1).owns()).isTrue();
        members.get(1).release();
        assertThat(last.tokens()).hasSize(1);
        last.confirm();
        pass(11_000);
        membersOfAnotherLockCome();
        pass(2_000);
        assertThat(last.tokens()).hasSize(1);
        assertThat(backend.renew(last.claim).block()).isInstanceOf(Renewal.Held.class);
    }

    /** Makes this client forget what is old. */
    private void membersOfAnotherLockCome() {
        LockKey other = LockKey.of(LockKind.MUTEX, "other");
        LockClaim before = LockClaim.first(other, "before@there", LEASE, Waiting.NONE);
        store.memory.tryAcquire(before).subscribe();
        for (String id : List.of("x@here", "y@here")) {
            LockClaim claim = LockClaim.first(other, id, LEASE, Waiting.QUEUE).withClient("A");
            backend.watch(claim).subscribe();
            backend.tryAcquire(claim).subscribe();
        }
        store.memory.release(before).subscribe();
        pass(0);
    }

    @Test
    void nextRunHasItsOwnLease() {
        hold();
        List<Member> brief = List.of(new Member("a", Duration.ofSeconds(5)), new Member("b", Duration.ofSeconds(5)));
        List<Member> longer = List.of(new Member("c"), new Member("d"));
        letGo();
        brief.forEach(Member::release);
        assertThat(longer.get(0).owns()).isTrue();
        longer.get(0).attempt();
        assertThat(longer.get(0).answer).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(store.memory
                        .inspector()
                        .inspect("stock")
                        .blockFirst()
                        .holders()
                        .get(0)
                        .remaining()
                        .orElseThrow())
                .isGreaterThan(Duration.ofSeconds(29));
    }

    @Test
    void pushThatIsOverWhenItComesMakesItsMemberAsk() {
        store.signals = it -> it instanceof WatchSignal.GrantedRun pushed
                ? new WatchSignal.GrantedRun(pushed.run(), pushed.attempt(), Duration.ofMillis(1))
                : it;
        List<Member> members = members();
        pass(100);
        letGo();
        assertThat(members.get(0).signals).contains(new WatchSignal.Changed());
    }

    @Test
    void adoptionThatFailsLetsTheRestGoOn() {
        List<Member> members = membersInARun();
        Member first = members.get(0);
        store.losesAdoptions = true;
        LockClaim adopted = first.claim.withClient("");
        backend.adopt(adopted, first.tokens().get(0)).subscribe();
        backend.release(adopted).subscribe();
        members.get(1).attempt();
        pass(0);
        assertThat(members.get(1).owns()).isTrue();
    }

    private void breakHold() {
        var inspector = store.memory.inspector();
        var held = inspector.inspect("stock").blockFirst().holders().get(0);
        assertThat(inspector.breakHold("stock", held).block()).isTrue();
        pass(0);
    }

    @Test
    void exportIsNotUndoneByAnAnswerThatWasUnderWay() {
        List<Member> members = membersInARun();
        Member first = members.get(0);
        long token = ((Granted) first.signals.stream()
                        .filter(Granted.class::isInstance)
                        .findFirst()
                        .orElseThrow())
                .fencingToken();
        Mono<Renewal> adoption = backend.adopt(first.claim, token);
        store.roundTrip = Duration.ofMillis(100);
        members.get(1).attempt();
        List<Renewal> adopted = new ArrayList<>();
        adoption.subscribe(adopted::add);
        pass(200);
        assertThat(adopted).first().isInstanceOf(Renewal.Held.class);
        assertThat(store.ends).isZero();
        pass(1_000);
        assertThat(store.memory.renew(first.claim).block()).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void adoptionThatIsUnderWayIsNotUndoneByAnotherMemberThatLeaves() {
        List<Member> members = membersInARun();
        Member first = members.get(0);
        store.adoptionsArriveAfter = Duration.ofMillis(200);
        List<Renewal> adopted = new ArrayList<>();
        backend.adopt(first.claim.withClient(""), first.tokens().get(0)).subscribe(adopted::add);
        members.get(1).withdraw();
        members.get(2).attempt();
        pass(200);
        assertThat(adopted).first().isInstanceOf(Renewal.Held.class);
        assertThat(store.ends).isZero();
    }

    @Test
    void attemptOfAServedMemberThatArrivesLateTakesNothing() {
        List<Member> members = members();
        store.attemptsArriveAfter = Duration.ofMillis(500);
        for (Member member : members.subList(1, 3)) {
            member.attempt();
        }
        letGo();
        for (Member member : members) {
            pass(0);
            assertThat(member.owns()).isTrue();
            assertThat(member.release()).isEqualTo(Ownership.HELD);
        }
        assertThat(store.memory.contents()).isEmpty();
        pass(500);
        assertThat(store.memory.contents()).isEmpty();
    }

    // Runs of writers.

    private List<Member> writersInARun() {
        key = WRITE;
        assertThat(store.memory.tryAcquire(writer).block()).isInstanceOf(LockAttempt.Acquired.class);
        List<Member> writers = List.of(new Member("a"), new Member("b"), new Member("c"));
        assertThat(store.memory.release(writer).block()).isEqualTo(Ownership.HELD);
        pass(0);
        assertThat(writers.get(0).owns()).isTrue();
        return writers;
    }

    private static long token(Member member) {
        return member.tokens().get(0);
    }

    @Test
    void runsOfAMutexAndOfWritersWithOneNameAreSeparate() {
        List<Member> members = membersInARun();
        List<Member> writers = writersInARun();
        assertThat(backend.holders(READ).blockFirst().claimId())
                .isEqualTo(writers.get(0).claim.id());
        for (int i = 0; i < 3; i++) {
            assertThat(members.get(i).owns()).isTrue();
            assertThat(writers.get(i).owns()).isTrue();
            assertThat(members.get(i).release()).isEqualTo(Ownership.HELD);
            assertThat(writers.get(i).release()).isEqualTo(Ownership.HELD);
        }
        assertThat(store.ends).isEqualTo(2);
    }

    @Test
    void memberThatBecomesAReaderIsTheLastOfItsRun() {
        List<Member> writers = writersInARun();
        writers.get(0).release();
        Member reader = writers.get(1);
        long token = token(reader);
        reader.downgrade();
        assertThat(reader.answer).isEqualTo(new LockAttempt.Acquired(token, LEASE));
        pass(0);
        assertThat(writers.get(2).signals).contains(new WatchSignal.Changed());
        writers.get(2).attempt();
        assertThat(store.ends).isZero();
        assertThat(reader.release()).isEqualTo(Ownership.HELD);
        assertThat(writers.get(2).owns()).isTrue();
        assertThat(token(writers.get(2))).isGreaterThan(token + 1);
        assertThat(writers.get(2).release()).isEqualTo(Ownership.HELD);
        assertThat(store.memory.contents()).isEmpty();
    }

    @Test
    void downgradeIsNotUndoneByAnAnswerThatWasUnderWay() {
        List<Member> writers = writersInARun();
        store.roundTrip = Duration.ofMillis(100);
        writers.get(1).attempt();
        writers.get(0).downgrade();
        pass(200);
        assertThat(writers.get(0).answer).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(writers.get(1).owns()).isFalse();
        assertThat(store.ends).isZero();
        assertThat(store.memory.renew(writers.get(0).claim).block()).isInstanceOf(Renewal.Held.class);
    }

    /** The client sends it again until its lease ends, which is longer than it remembers the run. */
    @Test
    void lostDowngradeLetsNoMemberBegin() {
        List<Member> writers = writersInARun();
        writers.get(0).confirm();
        store.losesDowngrades = true;
        writers.get(0).downgrade();
        pass(LEASE.toMillis() / 2);
        membersOfAnotherLockCome();
        writers.get(1).attempt();
        pass(0);
        assertThat(writers.get(1).owns()).isFalse();
        store.losesDowngrades = false;
        writers.get(0).downgrade();
        assertThat(writers.get(0).answer).isEqualTo(new LockAttempt.Acquired(token(writers.get(0)), LEASE));
    }

    @Test
    void releaseAfterALostDowngradeFreesTheLock() {
        List<Member> writers = writersInARun();
        store.losesDowngrades = true;
        writers.get(0).downgrade();
        LockClaim late = writers.get(0).claim;
        writers.get(0).claim = late.withAttempt(late.attempt() + 1);
        assertThat(writers.get(0).release()).isEqualTo(Ownership.HELD);
        assertThat(writers.get(1).owns()).isTrue();
        writers.get(1).release();
        writers.get(2).release();
        assertThat(store.memory.tryAcquire(late).block()).isInstanceOf(LockAttempt.Contended.class);
        assertThat(store.memory.contents()).isEmpty();
    }

    @Test
    void releaseAfterADowngradeWithoutAnAnswerFreesTheLock() {
        List<Member> writers = writersInARun();
        store.losesAnswersToDowngrades = true;
        writers.get(0).downgrade();
        assertThat(writers.get(0).release()).isEqualTo(Ownership.HELD);
        assertThat(writers.get(1).owns()).isTrue();
    }

    @Test
    void refusedDowngradeLetsTheRestGoOn() {
        List<Member> writers = writersInARun();
        store.memory.release(writers.get(0).claim).block();
        writers.get(0).downgrade();
        assertThat(writers.get(0).answer).isInstanceOf(LockAttempt.Contended.class);
        pass(0);
        assertThat(writers.get(1).owns()).isTrue();
    }

    /** Another thread cancels between the decision to downgrade and the attempt. */
    @Test
    void downgradeThatIsSentAfterTheReleaseOfTheLastMemberTakesNothing() {
        for (long sentAfter : new long[] {0, 50, 150}) {
            List<Member> writers = writersInARun();
            store.endsArriveAfter = Duration.ofMillis(100);
            writers.subList(0, 2).forEach(Member::release);
            Member last = writers.get(2);
            last.decideToDowngrade();
            backend.release(last.claim).subscribe(it -> last.released = it);
            pass(sentAfter);
            last.send();
            if (last.answer instanceof LockAttempt.Acquired) {
                backend.release(last.claim).subscribe(); // as the engine does with a new grant
            }
            pass(200);
            last.watch.dispose();
            assertThat(last.released).isEqualTo(Ownership.HELD);
            assertThat(store.memory.contents()).isEmpty();
        }
    }

    @Test
    void downgradeThatIsSentAfterTheReleaseDoesNotEndTheHoldOfTheNextMember() {
        List<Member> writers = writersInARun();
        Member first = writers.get(0);
        first.decideToDowngrade();
        backend.release(first.claim).subscribe();
        pass(0);
        assertThat(writers.get(1).owns()).isTrue();
        first.send();
        assertThat(first.answer).isInstanceOf(LockAttempt.Contended.class);
        assertThat(backend.renew(writers.get(1).claim).block()).isInstanceOf(Renewal.Held.class);
        assertThat(writers.get(1).release()).isEqualTo(Ownership.HELD);
        assertThat(writers.get(2).owns()).isTrue();
    }

    /** The answer to the downgrade comes during the release, and the engine sends another release for it. */
    @Test
    void releaseDuringADowngradeThatTheBackEndHasProcessedIsNoLoss() {
        for (int index = 0; index < 3; index++) {
            List<Member> writers = writersInARun();
            writers.subList(0, index).forEach(Member::release);
            Member leaving = writers.get(index);
            store.roundTrip = Duration.ofMillis(100);
            leaving.downgrade();
            pass(50);
            backend.release(leaving.claim).subscribe(it -> leaving.released = it);
            pass(50);
            assertThat(leaving.answer).isInstanceOf(LockAttempt.Acquired.class);
            leaving.watch.dispose();
            backend.release(leaving.claim).subscribe();
            pass(200);
            assertThat(leaving.released).as("member %d", index).isEqualTo(Ownership.HELD);
            store.roundTrip = Duration.ZERO;
            releaseInOrder(writers.subList(index + 1, 3));
        }
    }

    @Test
    void downgradeThatArrivesAfterTheReleaseOfItsMemberTakesNothing() {
        for (int index = 0; index < 3; index++) {
            List<Member> writers = writersInARun();
            writers.subList(0, index).forEach(Member::release);
            Member leaving = writers.get(index);
            store.attemptsArriveAfter = Duration.ofMillis(100);
            leaving.downgrade();
            store.attemptsArriveAfter = Duration.ZERO;
            assertThat(leaving.release()).as("member %d", index).isEqualTo(Ownership.HELD);
            pass(100);
            assertThat(leaving.answer).isInstanceOf(LockAttempt.Contended.class);
            releaseInOrder(writers.subList(index + 1, 3));
        }
    }

    private void releaseInOrder(List<Member> rest) {
        for (Member next : rest) {
            assertThat(next.owns()).isTrue();
            assertThat(next.release()).isEqualTo(Ownership.HELD);
        }
        assertThat(store.memory.contents()).isEmpty();
    }

    @Test
    void releaseOfALostDowngradeIsRepeatedAsAWhole() {
        List<Member> writers = writersInARun();
        store.losesDowngrades = true;
        writers.get(0).downgrade();
        store.lostEnds = 1;
        writers.get(0).withdraw();
        assertThat(writers.get(0).released).isNull();
        assertThat(writers.get(1).owns()).isFalse();
        assertThat(writers.get(0).release()).isEqualTo(Ownership.HELD);
        releaseInOrder(writers.subList(1, 3));
    }

    @Test
    void laterRunWithAMemberWhoseDowngradeIsUnderWayServesNone() {
        List<Member> writers = writersInARun();
        writers.get(0).release();
        store.attemptsArriveAfter = Duration.ofMillis(100);
        writers.get(1).downgrade();
        store.attemptsArriveAfter = Duration.ZERO;
        breakHold();
        assertThat(writers.get(2).owns()).isTrue();
        pass(100);
        assertThat(writers.get(1).answer).isInstanceOf(LockAttempt.Contended.class);
        assertThat(backend.renew(writers.get(2).claim).block()).isInstanceOf(Renewal.Held.class);
    }

    /** The downgrade was repeated for longer than the client remembers the run. */
    @Test
    void answerThatComesAfterALongDowngradeBeginsNothing() {
        List<Member> writers = writersInARun();
        writers.get(0).confirm();
        store.losesDowngrades = true;
        writers.get(0).downgrade();
        pass(LEASE.toMillis() / 2);
        store.roundTrip = Duration.ofSeconds(2);
        writers.get(1).attempt();
        store.roundTrip = Duration.ZERO;
        membersOfAnotherLockCome();
        store.losesDowngrades = false;
        writers.get(0).downgrade();
        assertThat(writers.get(0).answer).isInstanceOf(LockAttempt.Acquired.class);
        pass(2_000);
        assertThat(writers.get(0).tokens()).hasSize(1);
        assertThat(writers.get(1).owns()).isFalse();
        assertThat(writers.get(0).release()).isEqualTo(Ownership.HELD);
        assertThat(writers.get(1).owns()).isTrue();
        assertThat(token(writers.get(1))).isGreaterThan(token(writers.get(0)) + 2);
    }

    @Test
    void grantsOfLocksWithoutRunsAreNotNoted() {
        RunTable[] made = new RunTable[1];
        backend = backend(now -> made[0] = new RunTable(now));
        List<Member> members = membersInARun();
        for (LockKind kind : List.of(LockKind.MUTEX, LockKind.WRITE, LockKind.READ)) {
            key = LockKey.of(kind, "other " + kind);
            Member other = new Member("o");
            assertThat(other.owns()).isTrue();
            other.release();
        }
        assertThat(made[0].over).isEmpty();
        members.forEach(Member::release);
    }

    /** The signal of the break is lost, as when a connection is made anew. */
    @Test
    void grantOfAReaderEndsTheRunBeforeIt() {
        store.signals = it -> it instanceof WatchSignal.LostRun ? new WatchSignal.Changed() : it;
        List<Member> writers = writersInARun();
        writers.subList(1, 3).forEach(Member::withdraw);
        key = READ;
        Member reader = new Member("r");
        breakHold();
        assertThat(reader.owns()).isTrue();
        assertThat(writers.get(0).signals).contains(new Lost(LossReason.NOT_HELD));
    }

    // Mutants that no simulated schedule has caught: each breaks one promise here.

    private boolean servesAWithdrawnMember(LongFunction<RunTable> decisions) {
        backend = backend(decisions);
        List<Member> members = membersInARun();
        members.get(1).withdraw();
        members.get(0).release();
        return members.get(1).owns();
    }

    @Test
    void withdrawnMemberIsNotServed() {
        assertThat(servesAWithdrawnMember(RunTable::new)).isFalse();
    }

    @Test
    void mutantThatServesAWithdrawnMemberIsCaught() {
        assertThat(servesAWithdrawnMember(with((any, run, byId) -> new StoreFed(any, run, byId) {
                    @Override
                    Reply<Ownership> release(LocalClaim claim, Moment at) {
                        return claim.standing == Standing.WAITING ? new Reply.Forward<>() : super.release(claim, at);
                    }
                })))
                .isTrue();
    }

    /** Its lease counts from its attempt, and ends when the run ends at the back end. */
    private boolean getsMoreThanIsLeft(LongFunction<RunTable> decisions) {
        backend = backend(decisions);
        List<Member> members = membersInARun();
        pass(900);
        members.get(1).attempt();
        members.get(0).release();
        long sentAt = TimeUnit.MILLISECONDS.toNanos(900);
        long left = LEASE.toNanos();
        return members.get(1).owns() && members.get(1).lease().toNanos() + sentAt > left;
    }

    @Test
    void memberGetsWhatIsLeftOfTheLeaseOfTheRun() {
        assertThat(getsMoreThanIsLeft(RunTable::new)).isFalse();
    }

    @Test
    void mutantThatGivesAMemberAWholeLeaseIsCaught() {
        assertThat(getsMoreThanIsLeft(with((any, run, byId) -> new StoreFed(any, run, byId) {
                    @Override
                    long leaseFor(Tenure tenure, LocalClaim owner, long now) {
                        return leaseNanos;
                    }
                })))
                .isTrue();
    }

    private boolean goesOnAfterALoss(LongFunction<RunTable> decisions) {
        backend = backend(decisions);
        List<Member> members = membersInARun();
        LockClaim stranger = LockClaim.first(KEY, "stranger@there", LEASE, Waiting.QUEUE);
        store.memory.tryAcquire(stranger).subscribe();
        breakHold();
        return members.get(1).signals.stream()
                .anyMatch(it -> it instanceof Granted granted && granted.fencingToken() < 5);
    }

    @Test
    void lostRunServesNoMember() {
        assertThat(goesOnAfterALoss(RunTable::new)).isFalse();
    }

    @Test
    void mutantThatGoesOnAfterALossIsCaught() {
        assertThat(goesOnAfterALoss(with((any, run, byId) -> new StoreFed(any, run, byId) {
                    @Override
                    void lose(Tenure tenure, @Nullable LossReason reason, Moment at) {
                        if (!handOver(tenure, at)) {
                            super.lose(tenure, reason, at);
                        }
                    }
                })))
                .isTrue();
    }
}
