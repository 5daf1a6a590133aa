package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A contract that cannot fail proves nothing: each of these back ends breaks one promise, and the contract must detect
 * it.
 */
class ContractCatchesMutantsTest {

    private static final int AT_ONCE = 16;

    @Test
    void correctBackEndPasses() {
        assertThat(failuresOf(store -> store)).isEmpty();
    }

    @Test
    void attemptThatOvertakesWaitersIsDetected() {
        assertThat(failuresOf(AttemptsPassWaiters::new)).contains("attemptThatMustNotWaitNeverOvertakesALiveWaiter");
    }

    @Test
    void renewalThatCreatesIsCaught() {
        assertThat(failuresOf(RenewalCreates::new)).contains("renewalNeverCreates", "renewalAfterLossChangesNothing");
    }

    @Test
    void renewalThatShortensNoLeaseIsCaught() {
        assertThat(failuresOf(RenewalShortensNothing::new)).contains("renewalWithAShorterLeaseLetsTheClaimEndEarlier");
    }

    @Test
    void adoptionThatDoesNotCompareTheTokenIsCaught() {
        assertThat(failuresOf(AdoptsWithAnyToken::new))
                .contains(
                        "claimOfEachKindIsAdoptedWithItsTokenOnly",
                        "holdThatALateAttemptOfTheExporterHasTakenIsNotAdoptedWithTheFormerToken");
    }

    @Test
    void releaseWithoutOwnerCheckIsCaught() {
        assertThat(failuresOf(ReleaseFreesAnyHolder::new)).contains("releaseOfAnotherClaimLeavesTheHolder");
    }

    @Test
    void renewalOfManyThatAnswersNothingIsCaught() {
        assertThat(failuresOf(RenewalOfManyIsUnknown::new)).contains("renewalOfManyAnswersEachInOrder");
    }

    @Test
    void tokenThatDoesNotRiseIsCaught() {
        assertThat(failuresOf(TokensStandStill::new))
                .contains("tokensRiseFromOwnerToOwner", "tokensRiseAcrossAnExpiry");
    }

    @Test
    void ignoredFloorIsCaught() {
        assertThat(failuresOf(IgnoresFloor::new))
                .contains("newGrantStartsAtTheFloor", "floorRaisesTheTokenOfAHeldClaimAndOfAllAfterIt");
    }

    @Test
    void releaseThatForgetsLateAttemptsIsCaught() {
        assertThat(failuresOf(ForgetsWithdrawals::new)).contains("attemptAfterTheReleaseOfItsClaimTakesNothing");
    }

    @Test
    void releaseThatIgnoresTheNumberOfAttemptsIsCaught() {
        assertThat(failuresOf(ReleasesAfterOneAttempt::new))
                .contains("laterAttemptOfAQueuedClaimTakesNothingAfterItsRelease");
    }

    @Test
    void requestSentOnAssemblyIsCaught() {
        assertThat(failuresOf(SendsOnAssembly::new)).contains("assemblingSendsNothing");
    }

    @Test
    void namesThatCollideAreCaught() {
        assertThat(failuresOf(FoldsNames::new)).contains("locksOfDifferentNamesAreDifferentLocks");
    }

    @Test
    void kindsThatCollideAreCaught() {
        assertThat(failuresOf(FoldsKinds::new))
                .contains("kindsOfOneNameAreDifferentLocks", "readersShareAndKeepWritersOut");
    }

    @Test
    void downgradeByAReleaseIsCaught() {
        assertThat(failuresOf(ReleasesToDowngrade::new))
                .contains(
                        "writerThatBecomesAReaderKeepsItsToken", "waitingWriterStaysOutUntilTheFormerWriterIsReleased");
    }

    @Test
    void downgradeWithoutEffectIsCaught() {
        assertThat(failuresOf(StaysWriter::new))
                .contains(
                        "writerThatBecomesAReaderKeepsItsToken",
                        "readersAtTheHeadJoinTheFormerWriterAndThoseBehindAWriterDoNot",
                        "notifiedReaderGetsASignalOfTheDowngrade",
                        "holdersReportTheFormerWriterAsAReader");
    }

    @Test
    void readerThatBecomesAWriterIsCaught() {
        assertThat(failuresOf(PromotesReaders::new))
                .contains("readerNeverBecomesAWriter", "noLateRequestTurnsTheFormerWriterIntoAWriter");
    }

    @Test
    void lostGrantIsCaught() {
        assertThat(failuresOf(LosesGrants::new)).contains("pushedGrantNamesTheAttemptThatItAnswers");
    }

    @Test
    void releaseThatKeepsThePlaceInTheQueueIsCaught() {
        assertThat(failuresOf(KeepsQueued::new)).contains("releaseOfAQueuedClaimGivesUpItsPlace");
    }

    @Test
    void holdersOfAnEarlierMomentAreCaught() {
        assertThat(failuresOf(RemembersHolders::new)).contains("freeLockHasNoHolder");
    }

    @Test
    void holdersOfOneSideAloneAreCaught() {
        assertThat(failuresOf(TellsOneSide::new)).contains("bothSidesOfAReadWriteLockReportAllItsHolders");
    }

    @Test
    void breakWithoutEffectIsCaught() {
        assertThat(failuresOf(store -> store, BreaksNothing::new))
                .containsExactly(
                        "breakIsToldToTheClientWhicheverMemberIsWatched",
                        "breakOfAWithdrawnMemberEndsNothing",
                        "breakTakesNoMemberButTheOneThatItNames",
                        "brokenHoldGoesToTheNextWaiterWithAHigherToken",
                        "brokenHoldIsALossForItsHolder",
                        "brokenHoldOfAMutexCostsAtMostAServedClaim",
                        "brokenHoldOfASemaphoreCostsAtMostAServedClaim",
                        "brokenHoldOfAWriterCostsAtMostAServedClaim",
                        "brokenRunIsToldToItsClientAndTheRestKeepsItsPlaces",
                        "downgradeOfAMemberOfALaterRunThatALateEndTakesOutEndsNothing",
                        "lateAttemptOfABrokenClaimTakesNothing",
                        "lateEndOfABrokenRunTakesTheServedMembersOutOfTheQueue",
                        "memberOfALaterRunThatALateEndTakesOutIsWithdrawn",
                        "membersKeepTheirPlacesWhenTheRunIsBrokenLongAfterTheirAttempts",
                        "oneShareIsBrokenAlone");
    }

    @Test
    void claimThatCountsAsOnePermitIsCaught() {
        assertThat(failuresOf(CountsEachClaimAsOne::new))
                .contains(
                        "manyPermitsOfAClaimAreTakenAndReleasedTogether",
                        "oneClaimMayTakeAllPermits",
                        "holdersAndWaitersReportTheirPermits");
    }

    @Test
    void claimOfFewPermitsThatOvertakesAClaimOfManyIsCaught() {
        assertThat(failuresOf(FewPermitsPassMany::new)).contains("firstWaiterThatWantsManyPermitsIsNotPassedByOthers");
    }

    @Test
    void releaseThatFreesOnePermitOnlyIsCaught() {
        assertThat(failuresOf(ReleaseFreesOnePermit::new))
                .contains(
                        "manyPermitsOfAClaimAreTakenAndReleasedTogether",
                        "permitsThatGetFreeGoToTheFirstWaitersThatFit",
                        "secondReleaseOfManyPermitsFreesNothing");
    }

    @Test
    void claimTimeForEachClaimOfAVanishedClientIsCaught() {
        assertThat(failuresOf(KnowsNoClients::new))
                .contains(
                        "claimOfAMutexBehindAVanishedClientIsServedInTime",
                        "claimOfASemaphoreBehindFiveVanishedClientsIsServedInTime",
                        "writerBehindWritersOfAVanishedClientIsServedInTime");
    }

    @Test
    void doubtThatNeverEndsIsCaught() {
        assertThat(failuresOf(NeverTrustsAgain::new))
                .contains(
                        "clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain",
                        "clientThatLostOneAnswerToAClaimOfASemaphoreIsTrustedAgain",
                        "clientThatLostOneAnswerToAWriterIsTrustedAgain");
    }

    @Test
    void withdrawalThatReadsTheQueueIsCaught() {
        assertThat(failuresOf(WithdrawalReadsAll::new))
                .contains(
                        "withdrawalFromAMutexCostsAtMostAServedClaim",
                        "withdrawalOfAWriterCostsAtMostAServedClaim",
                        "withdrawalFromASemaphoreCostsAtMostAServedClaim",
                        "timeOutOfAClaimOfAMutexCostsAtMostAServedOne");
    }

    @Test
    void waiterThatIsPassedOverAndBlocksNewcomersIsCaught() {
        assertThat(failuresOf(WaitersBlockNewcomers::new))
                .contains(
                        "newcomerPassesAWaiterWithoutAWatch",
                        "newcomerPassesTheWaitersOfAClientThatConfirmedNoGrant",
                        "newWriterPassesTheWritersOfAClientThatConfirmedNoGrant",
                        "newClaimOfASemaphorePassesTheWaitersOfAClientThatConfirmedNoGrant");
    }

    @Test
    void cancelledWatchThatStaysOpenIsCaught() {
        assertThat(failuresOf(WatchesStayOpen::new)).contains("waiterWhoseWatchWasCancelledIsPassedOver");
    }

    @Test
    void lateAttemptOfAHolderWithAnEffectIsCaught() {
        assertThat(failuresOf(LateAttemptsCount::new)).contains("overtakenAttemptOfAHolderSetsNoNewExpiry");
    }

    @Test
    void releaseOfAHolderThatForgetsLateAttemptsIsCaught() {
        assertThat(failuresOf(HoldersLeaveNoTombstone::new))
                .contains("laterAttemptOfAHolderTakesNothingAfterItsRelease")
                .doesNotContain("laterAttemptOfAQueuedClaimTakesNothingAfterItsRelease");
    }

    @Test
    void breakThatForgetsLateAttemptsIsCaught() {
        AtomicReference<LockBackend> memory = new AtomicReference<>();
        assertThat(failuresOf(
                        store -> {
                            memory.set(store);
                            return store;
                        },
                        inspector -> new BreaksWithoutTombstone(inspector, memory.get())))
                .contains("lateAttemptOfABrokenClaimTakesNothing")
                .doesNotContain("brokenHoldGoesToTheNextWaiterWithAHigherToken");
    }

    private static Set<String> failuresOf(UnaryOperator<LockBackend> mutation) {
        return failuresOf(mutation, inspector -> inspector);
    }

    /** Runs the contract without JUnit, since these failures are expected. */
    private static Set<String> failuresOf(
            UnaryOperator<LockBackend> mutation, UnaryOperator<LockInspector> inspection) {
        return failuresOf(LockBackendContract.class, mutation, inspection);
    }

    static Set<String> failuresOf(
            Class<?> contract, UnaryOperator<LockBackend> mutation, UnaryOperator<LockInspector> inspection) {
        // Those that fail mostly wait for what never happens.
        return Flux.fromArray(contract.getMethods())
                .filter(method -> method.isAnnotationPresent(Test.class) || applies(method))
                .parallel(AT_ONCE)
                .runOn(Schedulers.boundedElastic())
                .filter(method -> fails(method, new MutatedMemory(mutation, inspection)))
                .map(Method::getName)
                .sequential()
                .collect(Collectors.<String, Set<String>>toCollection(TreeSet::new))
                .block();
    }

    /** The memory meets all needs but a limit of waiters. */
    private static boolean applies(Method method) {
        Needs needs = method.getAnnotation(Needs.class);
        return needs != null && !Arrays.asList(needs.value()).contains(Need.WAITER_LIMIT);
    }

    private static boolean fails(Method test, LockBackendContract contract) {
        try {
            test.setAccessible(true);
            if (test.getParameterCount() == 0) {
                test.invoke(contract);
            } else {
                for (LockKind kind : TestsThatApply.exclusiveKinds(contract).toList()) {
                    test.invoke(contract, kind);
                }
            }
            return false;
        } catch (InvocationTargetException failed) {
            return !(failed.getCause() instanceof TestAbortedException); // skipped
        } catch (IllegalAccessException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** A waiter blocks new claims until it has the lock or leaves. */
    private record WaitersBlockNewcomers(LockBackend delegate, Set<String> waiters) implements ForwardingLockBackend {

        WaitersBlockNewcomers(LockBackend delegate) {
            this(delegate, ConcurrentHashMap.newKeySet());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> claim.waiting() == Waiting.NONE && !waiters.isEmpty()
                    ? Mono.just(new LockAttempt.Contended(claim.lease()))
                    : delegate.tryAcquire(claim).doOnNext(answer -> {
                        if (answer instanceof LockAttempt.Queued) {
                            waiters.add(claim.id());
                        } else {
                            waiters.remove(claim.id());
                        }
                    }));
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            waiters.remove(claim.id());
            return delegate.release(claim);
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return delegate.watch(claim).doOnNext(signal -> {
                if (signal instanceof WatchSignal.Granted || signal instanceof WatchSignal.GrantedRun) {
                    waiters.remove(claim.id());
                }
            });
        }
    }

    private record WatchesStayOpen(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return delegate.watch(claim).publish().autoConnect();
        }
    }

    private record LateAttemptsCount(LockBackend delegate, Map<String, Integer> last) implements ForwardingLockBackend {

        LateAttemptsCount(LockBackend delegate) {
            this(delegate, new ConcurrentHashMap<>());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(
                    () -> delegate.tryAcquire(claim.withAttempt(last.merge(claim.id(), claim.attempt(), Math::max))));
        }
    }

    private record HoldersLeaveNoTombstone(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return delegate.holders(claim.key())
                    .any(it -> it.claimId().equals(claim.id()))
                    .flatMap(holds -> delegate.release(holds ? claim.withAttempt(1) : claim));
        }
    }

    private record BreaksWithoutTombstone(LockInspector delegate, LockBackend store) implements LockInspector {
        @Override
        public Flux<LockReport> inspect(String name) {
            return delegate.inspect(name);
        }

        @Override
        public Flux<LockReport> all() {
            return delegate.all();
        }

        @Override
        public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
            LockKey key = LockKey.of(holder.kind(), lockName);
            return store.release(LockClaim.first(key, holder.claimId(), Duration.ofMinutes(1), Waiting.NONE))
                    .map(ended -> ended == Ownership.HELD);
        }

        @Override
        public Mono<Void> close() {
            return delegate.close();
        }
    }

    private record CountsEachClaimAsOne(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim.withPermits(1));
        }
    }

    /** Grants a claim of one permit while the waiters for several permits are out of the queue. */
    private record FewPermitsPassMany(LockBackend delegate, Queue<LockClaim> many) implements ForwardingLockBackend {

        FewPermitsPassMany(LockBackend delegate) {
            this(delegate, new ConcurrentLinkedQueue<>());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            Mono<LockAttempt> attempt = delegate.tryAcquire(claim).doOnNext(answer -> {
                if (answer instanceof LockAttempt.Queued && claim.permits() > 1) {
                    many.add(claim);
                }
            });
            return claim.permits() == 1
                    ? Flux.defer(() -> Flux.fromIterable(many))
                            .concatMap(delegate::release)
                            .then(attempt)
                    : attempt;
        }
    }

    /** The other permits stay taken, by a claim that no client releases. */
    private record ReleaseFreesOnePermit(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<Ownership> release(LockClaim claim) {
            LockClaim others = LockClaim.first(claim.key(), claim.id() + "-others", claim.lease(), Waiting.NONE);
            return delegate.release(claim)
                    .delayUntil(answer -> answer == Ownership.HELD && claim.permits() > 1
                            ? delegate.tryAcquire(others.withPermits(claim.permits() - 1))
                            : Mono.empty());
        }
    }

    /** Treats each claim as one of another client. */
    private record KnowsNoClients(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(alone(claim));
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return delegate.renew(alone(claim));
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return delegate.release(alone(claim));
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return delegate.watch(alone(claim));
        }

        private static LockClaim alone(LockClaim claim) {
            LockClaim other = LockClaim.first(
                    claim.key(), claim.id().replace(LockClaim.OWNER_MARK, '-'), claim.lease(), claim.waiting());
            return other.withAttempt(claim.attempt())
                    .withTokenFloor(claim.tokenFloor())
                    .withPermits(claim.permits());
        }
    }

    /** Pushes no grant to a client that has sent an attempt in place of the confirmation of a grant. */
    private record NeverTrustsAgain(LockBackend delegate, Set<String> pushed, Set<String> doubted)
            implements ForwardingLockBackend {

        NeverTrustsAgain(LockBackend delegate) {
            this(delegate, ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> {
                if (pushed.contains(claim.id())) {
                    doubted.add(claim.owner());
                }
                return delegate.tryAcquire(claim);
            });
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return delegate.watch(claim)
                    .filter(signal -> !(signal instanceof WatchSignal.Granted) || !doubted.contains(claim.owner()))
                    .doOnNext(signal -> {
                        if (signal instanceof WatchSignal.Granted) {
                            pushed.add(claim.id());
                        }
                    });
        }
    }

    /** Reads all waiters when one of them leaves. */
    private record WithdrawalReadsAll(LockBackend delegate, Set<LockClaim> waiters) implements ForwardingLockBackend {

        WithdrawalReadsAll(LockBackend delegate) {
            this(delegate, ConcurrentHashMap.newKeySet());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim).doOnNext(answer -> {
                if (answer instanceof LockAttempt.Queued) {
                    waiters.add(claim.withAttempt(1));
                }
            });
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            waiters.remove(claim.withAttempt(1));
            return delegate.release(claim)
                    .delayUntil(answer -> answer == Ownership.NOT_HELD
                            ? Flux.fromIterable(waiters).concatMap(delegate::renew)
                            : Mono.empty());
        }
    }

    private record RenewalCreates(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return delegate.tryAcquire(claim.withWaiting(Waiting.NONE).withAttempt(claim.attempt() + 1))
                    .map(answer -> answer instanceof LockAttempt.Acquired acquired
                            ? new Renewal.Held(acquired.lease())
                            : new Renewal.NotHeld());
        }
    }

    private record AdoptsWithAnyToken(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
            return delegate.renew(claim);
        }
    }

    private record RenewalShortensNothing(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return delegate.renew(claim.withLease(Duration.ofMinutes(1)));
        }
    }

    private record RenewalOfManyIsUnknown(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Flux<Renewal> renewAll(List<LockClaim> claims) {
            return delegate.renewAll(claims)
                    .map(answer -> new Renewal.Unknown(new LockBackendException("", "unknown", true, null)));
        }
    }

    private record BreaksNothing(LockInspector delegate) implements LockInspector {
        @Override
        public Flux<LockReport> inspect(String name) {
            return delegate.inspect(name);
        }

        @Override
        public Flux<LockReport> all() {
            return delegate.all();
        }

        @Override
        public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
            return Mono.just(true);
        }

        @Override
        public Mono<Void> close() {
            return delegate.close();
        }
    }

    /** Reports the holders of an earlier moment. */
    private record RemembersHolders(LockBackend delegate, Map<LockKey, List<LockHolder>> last)
            implements ForwardingLockBackend {

        RemembersHolders(LockBackend delegate) {
            this(delegate, new ConcurrentHashMap<>());
        }

        @Override
        public Flux<LockHolder> holders(LockKey key) {
            return delegate.holders(key)
                    .collectList()
                    .map(now -> now.isEmpty() ? last.getOrDefault(key, now) : now)
                    .flatMapIterable(holders -> holders);
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim)
                    .delayUntil(answer -> delegate.holders(claim.key())
                            .collectList()
                            .doOnNext(now -> last.putIfAbsent(claim.key(), now)));
        }
    }

    private record TellsOneSide(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Flux<LockHolder> holders(LockKey key) {
            return delegate.holders(key).filter(holder -> holder.kind() == key.kind());
        }
    }

    private record TokensStandStill(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim)
                    .map(answer -> answer instanceof LockAttempt.Acquired acquired
                            ? new LockAttempt.Acquired(1, acquired.lease())
                            : answer);
        }
    }

    private record IgnoresFloor(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim.withTokenFloor(0));
        }
    }

    private record SendsOnAssembly(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return Mono.fromFuture(delegate.release(claim).toFuture());
        }
    }

    private record FoldsNames(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(folded(claim));
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return delegate.renew(folded(claim));
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return delegate.release(folded(claim));
        }

        private static LockClaim folded(LockClaim claim) {
            LockKey key = claim.key();
            String name = key.name().replace('{', '_').replace('}', '_');
            return copy(claim, new LockKey(key.kind(), name, key.permits()));
        }
    }

    private record FoldsKinds(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(folded(claim));
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return delegate.renew(folded(claim));
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return delegate.release(folded(claim));
        }

        private static LockClaim folded(LockClaim claim) {
            return copy(claim, LockKey.of(LockKind.MUTEX, claim.key().name()));
        }
    }

    private record ReleasesToDowngrade(LockBackend delegate, Set<String> writers) implements ForwardingLockBackend {

        ReleasesToDowngrade(LockBackend delegate) {
            this(delegate, ConcurrentHashMap.newKeySet());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> {
                if (claim.key().kind() == LockKind.WRITE) {
                    writers.add(claim.id());
                } else if (writers.remove(claim.id())) {
                    return delegate.release(claim.withAttempt(1)).then(delegate.tryAcquire(claim));
                }
                return delegate.tryAcquire(claim);
            });
        }
    }

    private record StaysWriter(LockBackend delegate, Set<String> writers) implements ForwardingLockBackend {

        StaysWriter(LockBackend delegate) {
            this(delegate, ConcurrentHashMap.newKeySet());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> {
                boolean isWriter = claim.key().kind() == LockKind.WRITE && writers.add(claim.id());
                LockKey key = isWriter || writers.contains(claim.id())
                        ? LockKey.of(LockKind.WRITE, claim.key().name())
                        : claim.key();
                return delegate.tryAcquire(copy(claim, key));
            });
        }
    }

    private record PromotesReaders(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            if (claim.key().kind() != LockKind.WRITE) {
                return delegate.tryAcquire(claim);
            }
            LockClaim reader = copy(claim, LockKey.of(LockKind.READ, claim.key().name()));
            return delegate.renew(reader)
                    .flatMap(held -> held instanceof Renewal.Held
                            ? delegate.release(claim.withAttempt(1)).then(delegate.tryAcquire(claim))
                            : delegate.tryAcquire(claim));
        }
    }

    private static LockClaim copy(LockClaim claim, LockKey key) {
        int permits = Math.min(claim.permits(), key.permits());
        return new LockClaim(
                key, claim.id(), claim.lease(), claim.waiting(), claim.attempt(), claim.tokenFloor(), permits, "");
    }

    private record LosesGrants(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return delegate.watch(claim).filter(signal -> !(signal instanceof WatchSignal.Granted));
        }
    }

    private record ReleaseFreesAnyHolder(LockBackend delegate, Map<String, LockClaim> holders)
            implements ForwardingLockBackend {

        ReleaseFreesAnyHolder(LockBackend delegate) {
            this(delegate, new ConcurrentHashMap<>());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim).doOnNext(answer -> {
                if (answer instanceof LockAttempt.Acquired) {
                    holders.put(claim.key().name(), claim);
                }
            });
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return delegate.release(holders.getOrDefault(claim.key().name(), claim));
        }
    }

    private record ForgetsWithdrawals(LockBackend delegate, Set<String> seen) implements ForwardingLockBackend {

        ForgetsWithdrawals(LockBackend delegate) {
            this(delegate, ConcurrentHashMap.newKeySet());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> {
                seen.add(claim.id());
                return delegate.tryAcquire(claim);
            });
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return Mono.defer(
                    () -> seen.contains(claim.id()) ? delegate.release(claim) : Mono.just(Ownership.NOT_HELD));
        }
    }

    private record ReleasesAfterOneAttempt(LockBackend delegate) implements ForwardingLockBackend {
        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return delegate.release(claim.withAttempt(1));
        }
    }

    private record KeepsQueued(LockBackend delegate, Map<String, LockAttempt> last) implements ForwardingLockBackend {

        KeepsQueued(LockBackend delegate) {
            this(delegate, new ConcurrentHashMap<>());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim).doOnNext(answer -> last.put(claim.id(), answer));
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return Mono.defer(() -> last.get(claim.id()) instanceof LockAttempt.Queued
                    ? Mono.just(Ownership.NOT_HELD)
                    : delegate.release(claim));
        }
    }

    /** Removes all waiters from the queue during an attempt that does not wait. */
    private record AttemptsPassWaiters(LockBackend delegate, Queue<LockClaim> queued) implements ForwardingLockBackend {

        AttemptsPassWaiters(LockBackend delegate) {
            this(delegate, new ConcurrentLinkedQueue<>());
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            Mono<LockAttempt> attempt = delegate.tryAcquire(claim).doOnNext(answer -> {
                if (answer instanceof LockAttempt.Queued) {
                    queued.add(claim);
                }
            });
            return claim.waiting() == Waiting.NONE
                    ? Flux.defer(() -> Flux.fromIterable(queued))
                            .concatMap(delegate::release)
                            .then(attempt)
                    : attempt;
        }
    }
}
