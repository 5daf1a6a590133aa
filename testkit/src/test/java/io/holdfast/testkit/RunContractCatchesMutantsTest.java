package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.AcquiredRun;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.WatchSignal.GrantedRun;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Each rule of a run that a back end breaks is noticed by the contract. */
class RunContractCatchesMutantsTest {

    private static Set<String> failuresOf(UnaryOperator<LockBackend> mutation) {
        return ContractCatchesMutantsTest.failuresOf(RunContract.class, mutation, inspector -> inspector);
    }

    @Test
    void memoryKeepsTheRules() {
        assertThat(failuresOf(store -> store)).isEmpty();
    }

    /** A wrong back end, which sees each run of its store. */
    private abstract static class Wrong implements ForwardingLockBackend {

        private final LockBackend store;
        final Map<String, LockRun> last = new ConcurrentHashMap<>();

        Wrong(LockBackend store) {
            this.store = store;
        }

        @Override
        public LockBackend delegate() {
            return store;
        }

        LockRun seen(LockClaim claim, LockRun run) {
            last.put(claim.key().name(), run);
            return run;
        }

        @Nullable
        LockRun runOf(LockClaim claim) {
            LockRun run = last.get(claim.key().name());
            return run != null && run.members().contains(claim.id()) ? run : null;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return store.tryAcquire(claim)
                    .map(answer -> answer instanceof AcquiredRun it
                            ? new AcquiredRun(seen(claim, it.run()), it.lease())
                            : answer);
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return store.watch(claim)
                    .map(signal -> signal instanceof GrantedRun it
                            ? new GrantedRun(seen(claim, it.run()), it.attempt(), it.lease())
                            : signal);
        }

        @Override
        public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
            return store.endRun(claim, number, served)
                    .map(end -> new LockRun.End(
                            end.ownership(), end.next().map(it -> new AcquiredRun(seen(claim, it.run()), it.lease()))));
        }
    }

    @Test
    void withdrawalThatEndsTheRunIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<Ownership> release(LockClaim claim) {
                        LockRun run = runOf(claim);
                        return run == null
                                ? super.release(claim)
                                : store.release(claim)
                                        .then(endRun(claim, run.number(), 1))
                                        .map(LockRun.End::ownership);
                    }
                }))
                .contains("withdrawalOfAMemberEndsNothing");
    }

    @Test
    void runOfWithdrawnMembersThatGoesOnIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    private final Map<String, Integer> gone = new ConcurrentHashMap<>();

                    @Override
                    public Mono<Ownership> release(LockClaim claim) {
                        LockRun run = runOf(claim);
                        return Mono.defer(() -> run != null
                                        && gone.merge(claim.key().name(), 1, Integer::sum)
                                                == run.members().size()
                                ? Mono.just(Ownership.NOT_HELD)
                                : super.release(claim));
                    }
                }))
                .contains("withdrawalOfTheLastMemberThatIsWantedEndsTheRun");
    }

    @Test
    void endOfAnyNumberIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
                        return Mono.defer(() ->
                                super.endRun(claim, last.get(claim.key().name()).number(), served));
                    }
                }))
                .contains("endOfAFormerRunFreesNothing");
    }

    @Test
    void repeatedEndWithAnotherAnswerIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    private final Set<Long> ended = ConcurrentHashMap.newKeySet();

                    @Override
                    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
                        return Mono.defer(() -> ended.add(number)
                                ? super.endRun(claim, number, served)
                                : Mono.just(new LockRun.End(Ownership.NOT_HELD, Optional.empty())));
                    }
                }))
                .contains("endOfARunThatIsRepeatedGetsTheSameAnswer");
    }

    @Test
    void membersThatAreForgottenBecauseTheyWereNotServedAreCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
                        return super.endRun(claim, number, 64);
                    }
                }))
                .contains("membersThatWereNotServedKeepTheirPlaces", "withdrawnMemberGetsNoNewPlace");
    }

    @Test
    void servedMembersThatStayInTheQueueAreCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
                        return super.endRun(claim, number, 0);
                    }
                }))
                .contains("waitersOfOneClientThatFollowEachOtherGetTheLockAtOnce");
    }

    @Test
    void claimOfAnotherClientInARunIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                        return super.tryAcquire(claim.client().isEmpty() ? claim : claim.withClient("all"));
                    }
                }))
                .contains("strangerBetweenTwoWaitersOfAClientIsNotOvertaken");
    }

    @Test
    void claimWithoutAClientInARunIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                        return super.tryAcquire(claim.client().isEmpty() ? claim.withClient("none") : claim);
                    }
                }))
                .contains("claimWithoutAClientOrWithAnotherLeaseIsNoMember");
    }

    @Test
    void claimWithAnotherLeaseInARunIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                        return super.tryAcquire(claim.withLease(Contest.LONG));
                    }
                }))
                .contains("claimWithoutAClientOrWithAnotherLeaseIsNoMember");
    }

    @Test
    void runOfReadersIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Flux<WatchSignal> watch(LockClaim claim) {
                        return super.watch(claim)
                                .map(it ->
                                        claim.key().kind() == LockKind.READ && it instanceof WatchSignal.Granted granted
                                                ? new GrantedRun(
                                                        new LockRun(granted.fencingToken(), List.of(claim.id())),
                                                        granted.attempt(),
                                                        granted.lease())
                                                : it);
                    }
                }))
                .contains("readersOfOneClientGetHoldsOfTheirOwn");
    }

    @Test
    void memberThatIsQueuedASecondTimeIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                        LockRun run = runOf(claim);
                        return run == null
                                ? super.tryAcquire(claim)
                                : store.tryAcquire(LockClaim.first(
                                                claim.key(), claim.id() + "again", claim.lease(), claim.waiting()))
                                        .then(super.tryAcquire(claim));
                    }
                }))
                .contains("memberThatAsksAgainGetsTheSameRunAndNoSecondPlace");
    }

    @Test
    void tokenOfTheNextOwnerWithinTheBlockIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    LockRun seen(LockClaim claim, LockRun run) {
                        return super.seen(claim, new LockRun(run.number() + 8, run.members()));
                    }

                    @Override
                    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
                        return super.endRun(claim, number - 8, served);
                    }
                }))
                .contains("waitersOfOneClientThatFollowEachOtherGetTheLockAtOnce");
    }

    @Test
    void breakThatIsNotToldIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Flux<WatchSignal> watch(LockClaim claim) {
                        return super.watch(claim).filter(it -> !(it instanceof WatchSignal.LostRun));
                    }
                }))
                .contains("brokenRunIsToldToItsClientAndTheRestKeepsItsPlaces");
    }

    @Test
    void breakThatIsToldToTheFirstMemberOnlyIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Flux<WatchSignal> watch(LockClaim claim) {
                        return super.watch(claim).filter(it -> !(it instanceof WatchSignal.LostRun) || isFirst(claim));
                    }

                    private boolean isFirst(LockClaim claim) {
                        LockRun run = runOf(claim);
                        return run != null && run.members().indexOf(claim.id()) == 0;
                    }
                }))
                .containsExactly("breakIsToldToTheClientWhicheverMemberIsWatched");
    }

    @Test
    void runThatIsGrantedAgainThoughItServedNobodyIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Flux<WatchSignal> watch(LockClaim claim) {
                        return super.watch(claim)
                                .map(it -> it instanceof WatchSignal.Granted granted && runOf(claim) != null
                                        ? new GrantedRun(
                                                new LockRun(granted.fencingToken(), List.of(claim.id())),
                                                granted.attempt(),
                                                granted.lease())
                                        : it);
                    }
                }))
                .contains("firstMemberOfARunThatServedNobodyGetsTheLockAlone");
    }

    @Test
    void servedMemberWithoutATombstoneIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<Ownership> release(LockClaim claim) {
                        return runOf(claim) == null ? super.release(claim) : Mono.just(Ownership.NOT_HELD);
                    }
                }))
                .contains("attemptOfAServedMemberThatArrivesAfterItsReleaseTakesNothing");
    }

    @Test
    void lateEndThatIsIgnoredIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
                        return Mono.defer(
                                () -> number < last.get(claim.key().name()).number()
                                        ? Mono.just(new LockRun.End(Ownership.NOT_HELD, Optional.empty()))
                                        : super.endRun(claim, number, served));
                    }
                }))
                .contains(
                        "lateEndOfABrokenRunTakesTheServedMembersOutOfTheQueue",
                        "memberOfALaterRunThatALateEndTakesOutIsWithdrawn",
                        "downgradeOfAMemberOfALaterRunThatALateEndTakesOutEndsNothing");
    }

    @Test
    void releaseOfADowngradeWithoutATombstoneIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<Ownership> release(LockClaim claim) {
                        return super.release(claim.key().kind() == LockKind.READ ? claim.withAttempt(1) : claim);
                    }
                }))
                .contains("downgradeThatArrivesAfterTheReleaseOfItsMemberTakesNothing");
    }

    /** The reader has its place elsewhere, so the writers around it follow each other. */
    @Test
    void runOverAReaderIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                        return claim.key().kind() == LockKind.READ && claim.waiting() == Waiting.QUEUE
                                ? Mono.just(new LockAttempt.Queued(claim.lease()))
                                : super.tryAcquire(claim);
                    }
                }))
                .contains("readerBetweenTwoWritersOfAClientIsNotOvertaken");
    }

    /** A downgrade of a member gets this answer; any other attempt gets that of the store. */
    private static Set<String> failuresOfDowngrades(BiFunction<Wrong, LockClaim, Mono<LockAttempt>> downgrade) {
        return failuresOf(store -> new Wrong(store) {
            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                return claim.key().kind() == LockKind.READ && runOf(claim) != null
                        ? downgrade.apply(this, claim)
                        : super.tryAcquire(claim);
            }
        });
    }

    private static long token(Wrong store, LockClaim claim) {
        LockRun run = store.runOf(claim);
        return run.token(run.members().indexOf(claim.id()));
    }

    @Test
    void downgradeOfAMemberThatEndsNothingIsCaught() {
        assertThat(failuresOfDowngrades(
                        (store, claim) -> Mono.just(new LockAttempt.Acquired(token(store, claim), claim.lease()))))
                .contains(
                        "memberThatBecomesAReaderIsTheLastOfItsRun",
                        "readersAtTheHeadJoinAMemberThatBecomesAReader",
                        "downgradeOfAnotherClientOrThatCameLateOrOfAWithdrawnMemberEndsNothing");
    }

    @Test
    void downgradeThatDropsTheMembersBehindIsCaught() {
        assertThat(failuresOfDowngrades((store, claim) -> {
                    List<String> members = store.runOf(claim).members();
                    return Flux.fromIterable(members.subList(members.indexOf(claim.id()) + 1, members.size()))
                            .concatMap(behind -> store.delegate()
                                    .release(LockClaim.first(claim.key(), behind, claim.lease(), Waiting.QUEUE)))
                            .then(store.delegate().tryAcquire(claim));
                }))
                .contains("memberThatBecomesAReaderIsTheLastOfItsRun");
    }

    @Test
    void downgradeOfAMemberWithTheNumberOfTheRunIsCaught() {
        assertThat(failuresOfDowngrades((store, claim) -> store.delegate()
                        .tryAcquire(claim)
                        .map(answer -> answer instanceof LockAttempt.Acquired it
                                ? new LockAttempt.Acquired(store.runOf(claim).number(), it.lease())
                                : answer)))
                .contains("memberThatBecomesAReaderIsTheLastOfItsRun");
    }

    @Test
    void downgradeOfAnotherClientIsCaught() {
        assertThat(failuresOfDowngrades((store, claim) -> store.delegate().tryAcquire(claim.withClient(RunContract.A))))
                .contains("downgradeOfAnotherClientOrThatCameLateOrOfAWithdrawnMemberEndsNothing");
    }

    @Test
    void adoptionOfAMemberThatEndsNothingIsCaught() {
        assertThat(failuresOf(store -> new Wrong(store) {
                    @Override
                    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
                        return runOf(claim) == null
                                ? super.adopt(claim, fencingToken)
                                : Mono.just(new Renewal.Held(claim.lease()));
                    }
                }))
                .contains("adoptedMemberIsTheLastOfItsRun");
    }
}
