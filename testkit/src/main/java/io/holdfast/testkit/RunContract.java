package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.AcquiredRun;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import reactor.core.scheduler.Schedulers;

/**
 * Runs: consecutive waiters of one client get the lock by one grant, and keep their places until the run ends. The tests
 * send what a client sends; {@code A} and {@code B} are two clients. A test with a kind runs for a mutex and for writers.
 */
interface RunContract extends LockBackendUnderTest {

    String A = "client-a";
    String B = "client-b";

    private static List<Contender> members(Contest contest, int number) {
        return Stream.generate(() -> contest.waiterOf(A)).limit(number).toList();
    }

    private static List<String> ids(List<Contender> members) {
        return members.stream().map(it -> it.claim().id()).toList();
    }

    @Needs(Need.RUNS)
    default void waitersOfOneClientThatFollowEachOtherGetTheLockAtOnce(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.contender();
            long before = holder.mustAcquire();
            List<Contender> members = members(contest, 3);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            assertThat(run.members()).isEqualTo(ids(members));
            assertThat(run.number()).isGreaterThan(before);
            assertThat(members.get(0).endRun(run, 3)).isEqualTo(new LockRun.End(Ownership.HELD, Optional.empty()));
            assertThat(contest.contender().mustAcquire()).isGreaterThan(run.lastToken());
            members.get(1).mustNotHaveBeenPushed();
        }
    }

    @Needs(Need.RUNS)
    default void strangerBetweenTwoWaitersOfAClientIsNotOvertaken(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> first = members(contest, 2);
            Contender stranger = contest.waiterOf(B);
            Contender last = contest.waiterOf(A);
            holder.release();
            LockRun run = first.get(0).mustBePushedARun();
            assertThat(run.members()).isEqualTo(ids(first));
            assertThat(first.get(0).endRun(run, 2).next()).isEmpty();
            stranger.mustBePushed();
            stranger.release();
            last.mustBePushed();
        }
    }

    @Needs(Need.RUNS)
    default void claimWithoutAClientOrWithAnotherLeaseIsNoMember(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 2);
            Contender other = contest.waiterOf(A, Contest.LONG.minusSeconds(1));
            Contender without = contest.waiter();
            Contender withoutToo = contest.waiter();
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            assertThat(run.members()).isEqualTo(ids(members));
            assertThat(members.get(0).endRun(run, 2).next()).isEmpty();
            other.mustBePushed();
            other.release();
            without.mustBePushed();
            without.release();
            withoutToo.mustBePushed();
        }
    }

    @Needs({Need.RUNS, Need.READ_WRITE})
    default void readersOfOneClientGetHoldsOfTheirOwn() {
        try (Contest contest = new Contest(this)) {
            Contender writer = contest.of(LockKind.WRITE, Waiting.NONE);
            writer.mustAcquire();
            Contender one = contest.queued(contest.of(LockKind.READ, A).watching());
            Contender two = contest.queued(contest.of(LockKind.READ, A).watching());
            writer.release();
            one.mustBePushed();
            two.mustBePushed();
            one.mustHold();
            two.mustHold();
        }
    }

    @Needs({Need.RUNS, Need.SEMAPHORE})
    default void permitsOfOneClientGetHoldsOfTheirOwn() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.permit(1, Waiting.NONE);
            holder.mustAcquire();
            Contender one = contest.queued(contest.of(LockKind.SEMAPHORE, A).watching());
            Contender two = contest.queued(contest.of(LockKind.SEMAPHORE, A).watching());
            holder.release();
            one.mustBePushed();
            one.release();
            two.mustBePushed();
        }
    }

    @Needs(Need.RUNS)
    default void withdrawalOfAMemberEndsNothing(LockKind kind) {
        for (int gone = 0; gone < 3; gone++) {
            try (Contest contest = new Contest(this, kind)) {
                Contender holder = contest.holder();
                List<Contender> members = members(contest, 3);
                Contender stranger = contest.waiterOf(B);
                holder.release();
                LockRun run = members.get(0).mustBePushedARun();
                assertThat(members.get(gone).release()).as("member %d", gone).isEqualTo(Ownership.NOT_HELD);
                Contender other = members.get((gone + 1) % 3);
                assertThat(other.mustBeInARun()).isEqualTo(run);
                stranger.mustQueue();
                assertThat(other.endRun(run, 3).ownership()).isEqualTo(Ownership.HELD);
                stranger.mustBePushed();
            }
        }
    }

    @Needs({Need.RUNS, Need.PUSHES})
    default void grantThatItsFirstMemberLeavesIsSignalledToTheNext(LockKind kind) {
        for (boolean isTheAnswerLost : List.of(false, true)) {
            try (Contest contest = new Contest(this, kind)) {
                Contender holder = contest.holder();
                List<Contender> members = members(contest, 3);
                holder.release();
                LockRun run = members.get(0).mustBePushedARun();
                if (isTheAnswerLost) {
                    assertThat(members.get(0).mustBeInARun()).isEqualTo(run);
                }
                members.get(0).release();
                assertThat(members.get(1).mustBePushedARun()).isEqualTo(run);
                members.get(1).release();
                assertThat(members.get(2).mustBePushedARun()).isEqualTo(run);
                assertThat(members.get(2).endRun(run, 3).ownership()).isEqualTo(Ownership.HELD);
            }
        }
    }

    @Needs(Need.RUNS)
    default void withdrawalOfTheLastMemberThatIsWantedEndsTheRun(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            members.forEach(Contender::release);
            stranger.mustBePushed();
            assertThat(members.get(0).endRun(run, 3).ownership()).isEqualTo(Ownership.NOT_HELD);
            stranger.mustHold();
        }
    }

    /** Only renewals come from the client while a member owns the lock for long, and they are for the first member. */
    @Needs(Need.RUNS)
    default void runGoesOnWhenMembersLeaveLongAfterTheirLastAttempts(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members =
                    Stream.generate(() -> contest.waiterOf(A, lease())).limit(4).toList();
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            members.get(0).mustHold();
            assertThat(members.get(0).release()).isEqualTo(Ownership.NOT_HELD);
            for (int i = 0; i < 6; i++) {
                passTime(lease().dividedBy(5));
                members.get(0).mustHold();
                stranger.mustQueue();
            }
            assertThat(members.get(2).release()).isEqualTo(Ownership.NOT_HELD);
            stranger.mustQueue();
            members.get(0).mustHold();
            LockRun rest =
                    members.get(1).endRun(run, 3).next().map(it -> it.run()).orElse(null);
            if (rest == null) {
                members.get(3).mustBePushed();
            } else {
                assertThat(rest.members()).isEqualTo(ids(members.subList(3, 4)));
            }
            stranger.mustNotHaveBeenPushed();
        }
    }

    @Needs(Need.RUNS)
    default void memberThatAsksWithoutItsClientGetsNoRun(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 2);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            for (Contender member : members) {
                assertThat(contest.answer(backend()
                                .tryAcquire(member.claim()
                                        .withAttempt(member.claim().attempt() + 1)
                                        .withClient(""))))
                        .isInstanceOf(LockAttempt.Queued.class);
            }
            assertThat(members.get(0).endRun(run, 2).ownership()).isEqualTo(Ownership.HELD);
        }
    }

    /** Its watch has failed, so its client cannot serve it. */
    @Needs(Need.RUNS)
    default void memberThatAsksWithoutItsClientKeepsItsPlace(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members =
                    Stream.generate(() -> contest.waiterOf(A, lease())).limit(3).toList();
            Contender stranger = contest.waiterOf(B);
            long began = System.nanoTime();
            holder.release();
            members.get(0).mustBePushedARun();
            members.get(0).mustHold();
            Contender polling = members.get(1);
            for (int attempt = 2; attempt < 6; attempt++) {
                passTime(lease().dividedBy(5));
                LockAttempt answer = contest.answer(backend()
                        .tryAcquire(polling.claim().withAttempt(attempt).withClient("")));
                if (System.nanoTime() - began >= lease().toNanos()) {
                    return; // this machine stood still, and the lease of the run may be over
                }
                assertThat(answer).isInstanceOf(LockAttempt.Queued.class);
            }
            passTime(lease().dividedBy(4));
            stranger.mustQueue();
            polling.mustBePushed();
        }
    }

    /** The number of the release says that an attempt was never answered: it may arrive later. */
    @Needs(Need.RUNS)
    default void lateAttemptOfAWithdrawnMemberTakesNothing(LockKind kind) {
        for (int gone = 0; gone < 3; gone++) {
            try (Contest contest = new Contest(this, kind)) {
                Contender holder = contest.holder();
                List<Contender> members = members(contest, 3);
                holder.release();
                LockRun run = members.get(0).mustBePushedARun();
                Contender leaving = members.get(gone);
                int attempt = leaving.claim().attempt();
                assertThat(contest.answer(backend().release(leaving.claim().withAttempt(attempt + 1))))
                        .isEqualTo(Ownership.NOT_HELD);
                assertThat(leaving.attemptAs(attempt)).as("member %d", gone).isInstanceOf(LockAttempt.Contended.class);
                Contender last = members.get(2);
                last.endRun(run, 2);
                if (gone == 2) {
                    contest.contender().mustAcquire();
                } else {
                    last.mustBePushed();
                }
            }
        }
    }

    /** The store does not know how many members were served. */
    @Needs({Need.RUNS, Need.WAITER_LIMIT})
    default void membersOfARunDoNotCountForTheLimitOfWaiters(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            LockBackend limited = Objects.requireNonNull(clientWithLimit(QueueAtWork.SHORT));
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            holder.release();
            members.get(0).mustBePushedARun();
            for (int i = 0; i < QueueAtWork.SHORT; i++) {
                contest.of(limited, "limited", kind, Contest.LONG, Waiting.QUEUE)
                        .mustQueue();
            }
            Contender oneMore = contest.of(limited, "limited", kind, Contest.LONG, Waiting.QUEUE);
            oneMore.mustFindAFullQueue();
            oneMore.mustFindAFullQueue();
        }
    }

    /** The client counts the lease from the time when it sent that attempt. */
    @Needs(Need.RUNS)
    default void grantAfterARunCountsItsLeaseFromTheAttemptThatItNames(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 2);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            members.get(0).mustHold();
            Duration since = lease().multipliedBy(5);
            passTime(since);
            members.get(0).endRun(run, 0);
            assertThat(members.get(0).mustBePushed().lease()).isGreaterThan(since);
        }
    }

    @Needs({Need.RUNS, Need.HAND_ON})
    default void runAfterAnAdoptionCountsItsLeaseFromTheAttemptThatItNames(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            members.get(0).mustHold();
            Duration since = lease().multipliedBy(5);
            passTime(since);
            assertThat(members.get(0).adopt(run.number())).isInstanceOf(Renewal.Held.class);
            assertThat(members.get(0).release()).isEqualTo(Ownership.HELD);
            WatchSignal.GrantedRun granted =
                    (WatchSignal.GrantedRun) members.get(1).mustBeSignalled(WatchSignal.GrantedRun.class);
            assertThat(granted.lease()).isGreaterThan(since);
        }
    }

    @Needs(Need.RUNS)
    default void withdrawnMemberGetsNoNewPlace(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            members.get(1).release();
            assertThat(members.get(0).endRun(run, 1).next()).isEmpty();
            members.get(2).mustBePushed();
        }
    }

    @Needs(Need.RUNS)
    default void withdrawalThatMeetsTheGrantLeavesTheRestToBeServed(LockKind kind) {
        for (int round = 0; round < 50; round++) {
            try (Contest contest = new Contest(this, kind)) {
                Contender holder = contest.holder();
                List<Contender> members = members(contest, 3);
                var leaving = backend()
                        .release(members.get(round % 3).claim())
                        .subscribeOn(Schedulers.parallel())
                        .toFuture();
                holder.release();
                assertThat(leaving).succeedsWithin(patience()).isEqualTo(Ownership.NOT_HELD);
                Contender other = members.get((round + 1) % 3);
                LockRun run = other.mustBeInARun();
                assertThat(run.members()).contains(other.claim().id());
                assertThat(other.endRun(run, run.members().size()))
                        .isEqualTo(new LockRun.End(Ownership.HELD, Optional.empty()));
            }
        }
    }

    @Needs(Need.RUNS)
    default void memberThatAsksAgainGetsTheSameRunAndNoSecondPlace(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            members.forEach(it -> assertThat(it.mustBeInARun()).isEqualTo(run));
            assertThat(members.get(0).endRun(run, 3).next()).isEmpty();
            stranger.mustBePushed();
        }
    }

    @Needs(Need.RUNS)
    default void endOfARunThatIsRepeatedGetsTheSameAnswer(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 2);
            Contender next = contest.waiterOf(A, Contest.LONG.minusSeconds(1));
            Contender behind = contest.waiterOf(A, Contest.LONG.minusSeconds(1));
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            LockRun.End end = members.get(0).endRun(run, 2);
            assertThat(end.ownership()).isEqualTo(Ownership.HELD);
            LockRun following = end.next().map(AcquiredRun::run).orElseThrow();
            assertThat(following.members()).isEqualTo(ids(List.of(next, behind)));
            LockRun.End again = members.get(0).endRun(run, 2);
            assertThat(again.ownership()).isEqualTo(Ownership.HELD);
            assertThat(again.next().map(AcquiredRun::run)).contains(following);
            next.mustHold();
        }
    }

    @Needs(Need.RUNS)
    default void endOfAFormerRunFreesNothing(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 2);
            Contender next = contest.waiterOf(A, Contest.LONG.minusSeconds(1));
            Contender behind = contest.waiterOf(A, Contest.LONG.minusSeconds(1));
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            LockRun following =
                    members.get(0).endRun(run, 2).next().orElseThrow().run();
            members.get(1).endRun(run, 1);
            next.mustHold();
            stranger.mustQueue();
            assertThat(behind.endRun(following, 2).ownership()).isEqualTo(Ownership.HELD);
            stranger.mustBePushed();
        }
    }

    @Needs(Need.RUNS)
    default void membersThatWereNotServedKeepTheirPlaces(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            LockRun rest = members.get(0).endRun(run, 1).next().orElseThrow().run();
            assertThat(rest.members()).isEqualTo(ids(members.subList(1, 3)));
            assertThat(rest.number()).isGreaterThan(run.lastToken());
            stranger.mustNotHaveBeenPushed();
        }
    }

    /** Otherwise its client, which cannot serve the first member, would end the same run for ever. */
    @Needs(Need.RUNS)
    default void firstMemberOfARunThatServedNobodyGetsTheLockAlone(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            assertThat(members.get(0).endRun(run, 0)).isEqualTo(new LockRun.End(Ownership.HELD, Optional.empty()));
            assertThat(members.get(0).mustBePushed().fencingToken()).isGreaterThan(run.lastToken());
            assertThat(members.get(0).release()).isEqualTo(Ownership.HELD);
            assertThat(members.get(1).mustBePushedARun().members()).isEqualTo(ids(members.subList(1, 3)));
            stranger.mustNotHaveBeenPushed();
        }
    }

    /** The client releases a member if the answer to its last attempt is missing at the end. */
    @Needs(Need.RUNS)
    default void attemptOfAServedMemberThatArrivesAfterItsReleaseTakesNothing(LockKind kind) {
        for (boolean isRunOver : List.of(false, true)) {
            try (Contest contest = new Contest(this, kind)) {
                Contender holder = contest.holder();
                List<Contender> members = members(contest, 2);
                holder.release();
                LockRun run = members.get(0).mustBePushedARun();
                LockClaim late = members.get(0).claim().withAttempt(2);
                if (isRunOver) {
                    members.get(1).endRun(run, 2);
                }
                assertThat(contest.answer(backend().release(late))).isEqualTo(Ownership.NOT_HELD);
                if (!isRunOver) {
                    members.get(1).endRun(run, 2);
                }
                assertThat(contest.answer(backend().tryAcquire(late))).isInstanceOf(LockAttempt.Contended.class);
                contest.contender().mustAcquire();
            }
        }
    }

    @Needs(Need.RUNS)
    default void membersKeepTheirPlacesWhenTheRunExpires(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members =
                    Stream.generate(() -> contest.waiterOf(A, lease())).limit(3).toList();
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            members.get(0).mustHold();
            Duration pause = lease().dividedBy(5);
            for (int i = 0; i < 6; i++) {
                passTime(pause);
                LockRun same = members.get(1).mustBeInARun();
                assertThat(members.get(2).mustBeInARun()).isEqualTo(same);
                stranger.mustQueue();
            }
            members.get(0).mustNotHold();
            assertThat(members.get(0).endRun(run, 1).ownership()).isEqualTo(Ownership.NOT_HELD);
            assertThat(members.get(1).mustBeInARun().members()).isEqualTo(ids(members.subList(1, 3)));
            stranger.mustNotHaveBeenPushed();
        }
    }

    @Needs(Need.RUNS)
    default void renewalOfTheFirstMemberRenewsTheRun(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 2);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            members.get(0).mustHold();
            members.get(1).mustNotHold();
            assertThat(contest.answer(backend()
                            .holders(members.get(0).claim().key())
                            .map(LockHolder::claimId)
                            .collectList()))
                    .containsExactly(members.get(0).claim().id());
            assertThat(run.members()).hasSize(2);
        }
    }

    @Needs({Need.RUNS, Need.INSPECTOR})
    default void memberThatWasNotServedIsReportedAsAWaiter(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            holder.release();
            members.get(0).mustBePushedARun();
            LockReport report = report(contest);
            assertThat(report.holderCount()).isEqualTo(1);
            assertThat(report.waiterCount()).isEqualTo(2);
        }
    }

    private LockReport report(Contest contest) {
        LockInspector inspector = Objects.requireNonNull(inspector());
        return contest.answer(inspector.inspect(contest.name()).next());
    }

    @Needs({Need.RUNS, Need.INSPECTOR})
    default void brokenRunIsToldToItsClientAndTheRestKeepsItsPlaces(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            LockHolder broken = report(contest).holders().get(0);
            assertThat(contest.answer(Objects.requireNonNull(inspector()).breakHold(contest.name(), broken)))
                    .isTrue();
            assertThat(members.get(0).mustBeSignalled(WatchSignal.LostRun.class))
                    .isEqualTo(new WatchSignal.LostRun(run.number(), LossReason.NOT_HELD));
            members.get(0).mustNotHold();
            assertThat(members.get(1).mustBeInARun().members()).isEqualTo(ids(members.subList(1, 3)));
            stranger.mustNotHaveBeenPushed();
        }
    }

    /** The client knows which members are over, and says so by {@code endRun}. */
    @Needs({Need.RUNS, Need.INSPECTOR})
    default void breakTakesNoMemberButTheOneThatItNames(LockKind kind) {
        for (int named = 0; named < 4; named++) {
            try (Contest contest = new Contest(this, kind)) {
                Contender holder = contest.holder();
                List<Contender> members = new ArrayList<>(members(contest, 4));
                Contender stranger = contest.waiterOf(B);
                holder.release();
                LockRun run = members.get(0).mustBePushedARun();
                assertThat(breakHold(contest, members.get(named), run.token(named)))
                        .isTrue();
                members.get(0).mustBeSignalled(WatchSignal.LostRun.class);
                members.remove(named);
                assertThat(members.get(0).mustBeInARun().members()).isEqualTo(ids(members));
                stranger.mustNotHaveBeenPushed();
            }
        }
    }

    @Needs({Need.RUNS, Need.INSPECTOR})
    default void breakOfAWithdrawnMemberEndsNothing(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            members.get(1).release();
            assertThat(breakHold(contest, members.get(1), run.token(1))).isFalse();
            members.get(0).mustHold();
        }
    }

    /** Only renewals came from the client, so the age of their attempts says nothing. */
    @Needs({Need.RUNS, Need.INSPECTOR})
    default void membersKeepTheirPlacesWhenTheRunIsBrokenLongAfterTheirAttempts(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members =
                    Stream.generate(() -> contest.waiterOf(A, lease())).limit(3).toList();
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            for (int i = 0; i < 6; i++) {
                members.get(0).mustHold();
                passTime(lease().dividedBy(5));
            }
            assertThat(breakHold(contest, members.get(0), run.number())).isTrue();
            assertThat(members.get(1).mustBeInARun().members()).isEqualTo(ids(members.subList(1, 3)));
            stranger.mustNotHaveBeenPushed();
        }
    }

    /** The client says how many were served when it learns of the loss. */
    @Needs({Need.RUNS, Need.INSPECTOR})
    default void lateEndOfABrokenRunTakesTheServedMembersOutOfTheQueue(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 4);
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            assertThat(breakHold(contest, members.get(0), run.number())).isTrue();
            assertThat(members.get(3).endRun(run, 3).ownership()).isEqualTo(Ownership.NOT_HELD);
            LockRun next = members.get(1).mustBePushedARun();
            assertThat(members.get(1).endRun(next, 1)).isEqualTo(new LockRun.End(Ownership.HELD, Optional.empty()));
            members.get(3).mustBePushed();
            stranger.mustNotHaveBeenPushed();
        }
    }

    /** It has left, although its client has not served it in the later run. */
    @Needs({Need.RUNS, Need.INSPECTOR})
    default void memberOfALaterRunThatALateEndTakesOutIsWithdrawn(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 4);
            Contender stranger = contest.waiterOf(B);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            assertThat(breakHold(contest, members.get(0), run.number())).isTrue();
            LockRun later = members.get(1).mustBePushedARun();
            members.get(1).endRun(run, 3);
            assertThat(members.get(2).attempt()).isInstanceOf(LockAttempt.Contended.class);
            assertThat(members.get(3).mustBeInARun()).isEqualTo(later);
            assertThat(members.get(3).endRun(later, 0).ownership()).isEqualTo(Ownership.HELD);
            members.get(3).mustBePushed();
            stranger.mustNotHaveBeenPushed();
        }
    }

    private boolean breakHold(Contest contest, Contender member, long token) {
        LockHolder named = new LockHolder(
                member.claim().id(), contest.kind(), 1, token, Optional.empty(), Optional.empty(), Map.of());
        return contest.answer(Objects.requireNonNull(inspector()).breakHold(contest.name(), named));
    }

    @Needs({Need.RUNS, Need.INSPECTOR})
    default void breakIsToldToTheClientWhicheverMemberIsWatched(LockKind kind) {
        for (int watched = 0; watched < 3; watched++) {
            try (Contest contest = new Contest(this, kind)) {
                Contender holder = contest.holder();
                List<Contender> members = members(contest, 3);
                holder.release();
                members.get(0).mustBePushedARun();
                for (int i = 0; i < 3; i++) {
                    if (i != watched) {
                        members.get(i).unwatch();
                    }
                }
                LockHolder broken = report(contest).holders().get(0);
                assertThat(contest.answer(Objects.requireNonNull(inspector()).breakHold(contest.name(), broken)))
                        .isTrue();
                members.get(watched).mustBeSignalled(WatchSignal.LostRun.class);
            }
        }
    }

    @Needs({Need.RUNS, Need.HAND_ON})
    default void adoptedMemberIsTheLastOfItsRun(LockKind kind) {
        try (Contest contest = new Contest(this, kind)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 3);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            Contender second = members.get(1);
            assertThat(second.adopt(run.token(0))).isEqualTo(new Renewal.NotHeld());
            assertThat(second.adopt(run.token(1))).isInstanceOf(Renewal.Held.class);
            assertThat(members.get(0).endRun(run, 3).ownership()).isEqualTo(Ownership.NOT_HELD);
            second.mustHold();
            assertThat(second.release()).isEqualTo(Ownership.HELD);
            members.get(2).mustBePushed();
        }
    }

    /** An attempt of the exporter may still be under way, and the number of the adopter is a later one. */
    @Needs({Need.RUNS, Need.HAND_ON})
    default void lateAttemptOfAnAdoptedMemberTakesNothingAfterTheReleaseOfTheAdopter(LockKind kind) {
        for (int adopted = 0; adopted < 3; adopted++) {
            try (Contest contest = new Contest(this, kind)) {
                Contender holder = contest.holder();
                List<Contender> members = members(contest, 3);
                holder.release();
                LockRun run = members.get(0).mustBePushedARun();
                LockClaim late = members.get(adopted).claim().withAttempt(2);
                LockClaim exported = late.withAttempt(3).withClient("");
                assertThat(contest.answer(anotherClient().adopt(exported, run.token(adopted))))
                        .isInstanceOf(Renewal.Held.class);
                assertThat(contest.answer(anotherClient().release(exported))).isEqualTo(Ownership.HELD);
                assertThat(contest.answer(backend().tryAcquire(late)))
                        .as("member %d", adopted)
                        .isInstanceOf(LockAttempt.Contended.class);
            }
        }
    }

    /** The one that adopts has given up, and its release was faster. */
    @Needs({Need.RUNS, Need.HAND_ON})
    default void adoptionThatArrivesAfterTheReleaseOfItsMemberTakesNothing(LockKind kind) {
        for (int gone = 0; gone < 3; gone++) {
            for (boolean isAttemptUnderWay : List.of(false, true)) {
                try (Contest contest = new Contest(this, kind)) {
                    Contender holder = contest.holder();
                    List<Contender> members = members(contest, 3);
                    Contender stranger = contest.waiterOf(B);
                    holder.release();
                    LockRun run = members.get(0).mustBePushedARun();
                    LockClaim leaving = members.get(gone).claim();
                    contest.answer(backend().release(isAttemptUnderWay ? leaving.withAttempt(2) : leaving));
                    assertThat(members.get(gone).adopt(run.token(gone)))
                            .as("member %d", gone)
                            .isEqualTo(new Renewal.NotHeld());
                    Contender other = members.get((gone + 1) % 3);
                    assertThat(other.mustBeInARun()).isEqualTo(run);
                    assertThat(other.endRun(run, 3).ownership()).isEqualTo(Ownership.HELD);
                    stranger.mustBePushed();
                }
            }
        }
    }

    @Needs({Need.RUNS, Need.READ_WRITE})
    default void readerBetweenTwoWritersOfAClientIsNotOvertaken() {
        try (Contest contest = new Contest(this, LockKind.WRITE)) {
            Contender holder = contest.holder();
            List<Contender> first = members(contest, 2);
            Contender reader = contest.queued(contest.of(LockKind.READ, A).watching());
            Contender last = contest.waiterOf(A);
            holder.release();
            LockRun run = first.get(0).mustBePushedARun();
            assertThat(run.members()).isEqualTo(ids(first));
            assertThat(first.get(0).endRun(run, 2).next()).isEmpty();
            assertThat(reader.mustBePushed().fencingToken()).isGreaterThan(run.lastToken());
            last.mustNotHaveBeenPushed();
            reader.release();
            last.mustBePushed();
        }
    }

    @Needs({Need.RUNS, Need.READ_WRITE})
    default void runsOfAMutexAndOfWritersWithOneNameAreSeparate() {
        try (Contest contest = new Contest(this)) {
            List<List<Contender>> waiters = new ArrayList<>();
            List<LockRun> runs = new ArrayList<>();
            for (LockKind kind : List.of(LockKind.MUTEX, LockKind.WRITE)) {
                Contender holder = contest.of(kind, Waiting.NONE);
                holder.mustAcquire();
                waiters.add(
                        Stream.generate(() -> contest.queued(contest.of(kind, A).watching()))
                                .limit(2)
                                .toList());
                holder.release();
            }
            waiters.forEach(members -> runs.add(members.get(0).mustBePushedARun()));
            for (int i = 0; i < 2; i++) {
                List<Contender> members = waiters.get(i);
                assertThat(runs.get(i).members()).isEqualTo(ids(members));
                assertThat(members.get(1).mustBeInARun()).isEqualTo(runs.get(i));
                assertThat(members.get(0).endRun(runs.get(i), 2).ownership()).isEqualTo(Ownership.HELD);
            }
        }
    }

    @Needs({Need.RUNS, Need.READ_WRITE, Need.DOWNGRADE})
    default void memberThatBecomesAReaderIsTheLastOfItsRun() {
        for (int last = 0; last < 3; last++) {
            try (Contest contest = new Contest(this, LockKind.WRITE)) {
                Contender holder = contest.holder();
                List<Contender> members = members(contest, 3);
                Contender stranger = contest.waiterOf(B);
                holder.release();
                LockRun run = members.get(0).mustBePushedARun();
                Contender reader = members.get(last);
                for (String time : List.of("first", "again")) {
                    assertThat(Contender.token(reader.attemptAs(LockKind.READ)))
                            .as("%s, member %d", time, last)
                            .isEqualTo(run.token(last));
                }
                assertThat(members.get(0).endRun(run, 3).ownership()).isEqualTo(Ownership.NOT_HELD);
                reader.mustHold();
                assertThat(reader.release()).isEqualTo(Ownership.HELD);
                List<Contender> behind = members.subList(last + 1, 3);
                if (behind.size() == 2) {
                    LockRun rest = behind.get(0).mustBePushedARun();
                    assertThat(rest.members()).isEqualTo(ids(behind));
                    assertThat(rest.number()).isGreaterThan(run.lastToken());
                    behind.get(0).endRun(rest, 2);
                } else if (behind.size() == 1) {
                    behind.get(0).mustBePushed();
                    behind.get(0).release();
                }
                assertThat(stranger.mustBePushed().fencingToken()).isGreaterThan(run.lastToken());
            }
        }
    }

    /** The client releases the member, and then ends the run: the downgrade may arrive before, between or after both. */
    @Needs({Need.RUNS, Need.READ_WRITE, Need.DOWNGRADE})
    default void downgradeThatArrivesAfterTheReleaseOfItsMemberTakesNothing() {
        for (int index = 0; index < 3; index++) {
            for (boolean isRunOver : List.of(false, true)) {
                try (Contest contest = new Contest(this, LockKind.WRITE)) {
                    Contender holder = contest.holder();
                    List<Contender> members = members(contest, 3);
                    holder.release();
                    LockRun run = members.get(0).mustBePushedARun();
                    Contender leaving = members.get(index);
                    LockClaim late = leaving.asKind(LockKind.READ, 2);
                    assertThat(contest.answer(backend().release(late))).isEqualTo(Ownership.NOT_HELD);
                    if (isRunOver) {
                        leaving.endRun(run, 3);
                    }
                    assertThat(contest.answer(backend().tryAcquire(late)))
                            .as("member %d, run over: %s", index, isRunOver)
                            .isInstanceOf(LockAttempt.Contended.class);
                    assertThat(leaving.endRun(run, 3).ownership()).isEqualTo(Ownership.HELD);
                    contest.contender().mustAcquire();
                }
            }
        }
    }

    @Needs({Need.RUNS, Need.INSPECTOR, Need.READ_WRITE, Need.DOWNGRADE})
    default void downgradeOfAMemberOfALaterRunThatALateEndTakesOutEndsNothing() {
        try (Contest contest = new Contest(this, LockKind.WRITE)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 4);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            assertThat(breakHold(contest, members.get(0), run.number())).isTrue();
            LockRun later = members.get(1).mustBePushedARun();
            members.get(1).endRun(run, 3);
            assertThat(members.get(2).attemptAs(LockKind.READ)).isInstanceOf(LockAttempt.Contended.class);
            assertThat(members.get(3).mustBeInARun()).isEqualTo(later);
        }
    }

    @Needs({Need.RUNS, Need.READ_WRITE, Need.DOWNGRADE})
    default void readersAtTheHeadJoinAMemberThatBecomesAReader() {
        try (Contest contest = new Contest(this, LockKind.WRITE)) {
            Contender holder = contest.holder();
            List<Contender> members = members(contest, 2);
            Contender reader = contest.queued(contest.of(LockKind.READ, B).watching());
            Contender writer = contest.waiterOf(A);
            holder.release();
            LockRun run = members.get(0).mustBePushedARun();
            assertThat(Contender.token(members.get(1).attemptAs(LockKind.READ))).isEqualTo(run.token(1));
            assertThat(reader.mustBePushed().fencingToken()).isGreaterThan(run.lastToken());
            reader.mustHold();
            members.get(1).mustHold();
            reader.release();
            writer.mustNotHaveBeenPushed();
            members.get(1).release();
            writer.mustBePushed();
        }
    }

    /** It has lost the lock, so it asks as a newcomer. */
    @Needs({Need.RUNS, Need.READ_WRITE, Need.DOWNGRADE})
    default void memberOfARunThatExpiredBecomesNoWriterByAskingToRead() {
        for (int index = 0; index < 2; index++) {
            try (Contest contest = new Contest(this, LockKind.WRITE)) {
                Contender holder = contest.holder();
                List<Contender> members = Stream.generate(() -> contest.waiterOf(A, lease()))
                        .limit(2)
                        .toList();
                holder.release();
                LockRun run = members.get(0).mustBePushedARun();
                makeExpire(members.get(0).claim());
                Contender member = members.get(index);
                if (member.attemptAs(LockKind.READ) instanceof LockAttempt.Acquired acquired) {
                    assertThat(acquired.fencingToken()).isGreaterThan(run.lastToken());
                    member.mustHold();
                }
                member.release();
                members.get(1 - index).mustAcquire();
            }
        }
    }

    @Needs({Need.RUNS, Need.READ_WRITE, Need.DOWNGRADE})
    default void downgradeOfAnotherClientOrThatCameLateOrOfAWithdrawnMemberEndsNothing() {
        for (int index = 0; index < 3; index++) {
            try (Contest contest = new Contest(this, LockKind.WRITE)) {
                Contender holder = contest.holder();
                List<Contender> members = members(contest, 3);
                Contender stranger = contest.waiterOf(B);
                holder.release();
                LockRun run = members.get(0).mustBePushedARun();
                Contender member = members.get(index);
                assertThat(member.mustBeInARun()).isEqualTo(run);
                LockClaim reading = member.asKind(LockKind.READ, 3);
                for (LockClaim wrong : List.of(reading.withClient(B), reading.withClient(""), reading.withAttempt(1))) {
                    assertThat(contest.answer(backend().tryAcquire(wrong)))
                            .as("member %d: %s", index, wrong)
                            .isInstanceOf(LockAttempt.Contended.class);
                }
                member.release();
                assertThat(contest.answer(backend().tryAcquire(reading)))
                        .as("withdrawn member %d", index)
                        .isInstanceOf(LockAttempt.Contended.class);
                Contender other = members.get((index + 1) % 3);
                assertThat(other.mustBeInARun()).isEqualTo(run);
                assertThat(other.endRun(run, 3).ownership()).isEqualTo(Ownership.HELD);
                stranger.mustBePushed();
            }
        }
    }
}
