package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A lock has one holder; what each operation does to it. */
interface ExclusionContract extends LockBackendUnderTest {

    @Test
    default void oneOfManySimultaneousClaimsAcquires() {
        try (Contest contest = new Contest(this)) {
            List<Contender> contenders =
                    IntStream.range(0, 16).mapToObj(i -> contest.contender()).toList();
            Mono<Long> winners = Flux.fromIterable(contenders)
                    .flatMap(it -> backend().tryAcquire(it.claim()).subscribeOn(Schedulers.parallel()))
                    .filter(LockAttempt.Acquired.class::isInstance)
                    .count();
            assertThat(contest.answer(winners)).isBetween(oneOfManyAlwaysWins() ? 1L : 0L, 1L);
        }
    }

    @Test
    default void criticalSectionsNeverOverlapUnderLoad() {
        try (Contest contest = new Contest(this)) {
            ExclusionProbe probe = ExclusionProbe.exclusive();
            // Where votes can split, all attempts of a crowd may be refused. So one contender comes before it.
            Object unused = contest.answer(guardedRound(contest.contender(), probe));
            List<Contender> contenders =
                    IntStream.range(0, 200).mapToObj(i -> contest.contender()).toList();
            Mono<Long> rounds = Flux.fromIterable(contenders)
                    .flatMap(it -> guardedRound(it, probe).subscribeOn(Schedulers.parallel()), 8)
                    .count();
            assertThat(contest.answer(rounds)).isEqualTo(200);
            assertThat(probe.entries()).as("sections entered").isGreaterThan(oneOfManyAlwaysWins() ? 1 : 0);
            probe.verify();
        }
    }

    private Mono<Ownership> guardedRound(Contender contender, ExclusionProbe probe) {
        LockClaim claim = contender.claim();
        return backend()
                .tryAcquire(claim)
                .flatMap(answer -> answer instanceof LockAttempt.Acquired acquired
                        ? probe.guard(acquired.fencingToken(), backend().renew(claim))
                        : Mono.empty())
                .then(backend().release(claim));
    }

    @Test
    default void heldLockIsRefusedToAnotherClient() {
        try (Contest contest = new Contest(this)) {
            contest.holder();
            contest.elsewhere().mustBeRefused();
        }
    }

    @Test
    default void sameClaimGetsTheSameTokenAgain() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.contender();
            long token = holder.mustAcquire();
            assertThat(Contender.token(holder.attemptAs(1)))
                    .as("the same attempt")
                    .isEqualTo(token);
            assertThat(holder.mustAcquire()).as("the next attempt").isEqualTo(token);
        }
    }

    @Test
    default void lockIsKeptForTheAnsweredLease() {
        InTime.run(lease(), this::lockIsKept);
    }

    private void lockIsKept() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.exclusive(lease(), Waiting.NONE);
            LockAttempt.Acquired answer = (LockAttempt.Acquired) holder.attempt();
            passTime(answer.lease().dividedBy(2));
            contest.contender().mustBeRefused();
        }
    }

    @Test
    default void sameClaimAgainSetsTheExpiryAnew() {
        // Each of the two pauses leaves two fifths of a lease for the rest.
        InTime.run(lease().multipliedBy(8).dividedBy(5), this::expiryIsSetAnewByTheSameClaim);
    }

    private void expiryIsSetAnewByTheSameClaim() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder(lease());
            passTime(lease().multipliedBy(3).dividedBy(5));
            holder.mustAcquire();
            passTime(lease().multipliedBy(3).dividedBy(5));
            contest.contender().mustBeRefused();
        }
    }

    @Test
    default void expiredLockIsFree() {
        try (Contest contest = new Contest(this)) {
            Contender expired = contest.holder(lease());
            makeExpire(expired.claim());
            contest.contender().mustAcquire();
        }
    }

    @Test
    default void renewalExtends() {
        InTime.run(lease().multipliedBy(8).dividedBy(5), this::expiryIsSetAnewByARenewal);
    }

    private void expiryIsSetAnewByARenewal() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder(lease());
            passTime(lease().multipliedBy(3).dividedBy(5));
            assertThat(((Renewal.Held) holder.renew()).lease()).isPositive();
            passTime(lease().multipliedBy(3).dividedBy(5));
            contest.contender().mustBeRefused();
            holder.mustHold();
        }
    }

    @Test
    default void renewalAfterLossChangesNothing() {
        try (Contest contest = new Contest(this)) {
            Contender lost = contest.holder(lease());
            makeExpire(lost.claim());
            lost.mustNotHold();
            Contender next = contest.holder();
            lost.mustNotHold();
            next.mustHold();
            assertThat(next.release()).isEqualTo(Ownership.HELD);
        }
    }

    @Test
    default void renewalNeverCreates() {
        try (Contest contest = new Contest(this)) {
            Contender stranger = contest.contender();
            stranger.mustNotHold();
            assertThat(leftovers()).isEmpty();
            contest.holder();
            stranger.mustNotHold();
        }
    }

    /**
     * {@link Renewal.Unknown} is for a part of the back end that fails or is late: a healthy back end never answers it.
     */
    @Test
    default void renewalOfManyAnswersEachInOrder() {
        try (Contest contest = new Contest(this)) {
            Contender other = contest.enter(
                    backend(), LockKey.of(LockKind.MUTEX, contest.name() + "/other"), Contest.LONG, Waiting.NONE);
            other.mustAcquire();
            List<LockClaim> claims = Stream.of(contest.holder(), contest.contender(), other)
                    .map(Contender::claim)
                    .toList();
            List<Renewal> answers = contest.answer(backend().renewAll(claims).collectList());
            assertThat(answers).hasSize(3);
            assertThat(answers.get(0)).isInstanceOf(Renewal.Held.class);
            assertThat(answers.get(1)).isInstanceOf(Renewal.NotHeld.class);
            assertThat(answers.get(2)).isInstanceOf(Renewal.Held.class);
        }
    }

    @Test
    default void releaseOfAHeldClaimSaysSoOnce() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            assertThat(holder.release()).isEqualTo(Ownership.HELD);
            assertThat(holder.release()).isEqualTo(Ownership.NOT_HELD);
            contest.contender().mustAcquire();
        }
    }

    @Test
    default void releaseOfAnExpiredClaimSaysNotHeld() {
        try (Contest contest = new Contest(this)) {
            Contender expired = contest.holder(lease());
            makeExpire(expired.claim());
            assertThat(expired.release()).isEqualTo(Ownership.NOT_HELD);
        }
    }

    @Test
    default void releaseOfAnotherClaimLeavesTheHolder() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            assertThat(contest.contender().release()).isEqualTo(Ownership.NOT_HELD);
            assertThat(contest.elsewhere().release()).isEqualTo(Ownership.NOT_HELD);
            holder.mustHold();
        }
    }

    @Test
    default void attemptThatMustNotWaitLeavesNothing() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            contest.contender().mustBeRefused();
            holder.release();
            assertThat(leftovers()).isEmpty();
        }
    }

    @Test
    default void assemblingSendsNothing() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            LockBackend backend = backend();
            LockClaim waiting = contest.exclusive(Contest.LONG, Waiting.QUEUE).claim();
            Object assembled = List.of(
                    backend.tryAcquire(waiting),
                    backend.watch(waiting),
                    backend.release(holder.claim()),
                    backend.renewAll(List.of(holder.claim())),
                    backend.ping());
            holder.mustHold();
            holder.release();
            contest.contender().mustAcquire();
            assertThat(assembled).isNotNull();
        }
    }

    @Test
    default void eachSubscriptionSendsOnce() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            Mono<Ownership> release = backend().release(holder.claim());
            assertThat(contest.answer(release)).isEqualTo(Ownership.HELD);
            assertThat(contest.answer(release)).isEqualTo(Ownership.NOT_HELD);
        }
    }

    @Test
    default void locksOfDifferentNamesAreDifferentLocks() {
        try (Contest contest = new Contest(this)) {
            List<Contender> holders = oddNames(contest.name())
                    .map(name -> contest.enter(backend(), LockKey.of(LockKind.MUTEX, name), Contest.LONG, Waiting.NONE))
                    .toList();
            holders.forEach(Contender::mustAcquire);
            holders.forEach(Contender::mustHold);
            assertThat(holders).extracting(Contender::release).containsOnly(Ownership.HELD);
        }
    }

    private static Stream<String> oddNames(String base) {
        String longest = base + "x".repeat(LockKey.MAX_NAME_BYTES - base.length());
        Stream<String> endings = Stream.of(
                "",
                "{}",
                "}{",
                "{a}",
                "{a}{b}",
                "%",
                "%s",
                "%7B",
                ":",
                "::",
                "/",
                "/..",
                "\\",
                " ",
                "  ",
                "\t",
                "\n",
                "\0",
                "*",
                "?",
                "[a]",
                "\"",
                "'",
                "🔒",
                "é",
                "e\u0301",
                "É",
                "A",
                "a",
                ":waiters",
                ":queue");
        return Stream.of(endings.map(it -> base + it), endings(base), Stream.of(longest, longest.replace("xx", "xy")))
                .flatMap(it -> it);
    }

    /** Returns names that begin with special characters. */
    private static Stream<String> endings(String base) {
        return Stream.of("{", "}", "{}", "{x}", " ", "%", ":", "🔒").map(it -> it + base);
    }

    @Test
    default void pingAnswers() {
        assertThat(backend().ping().toFuture()).succeedsWithin(patience());
        assertThat(anotherClient().ping().toFuture()).succeedsWithin(patience());
    }

    @Test
    default void selfDescriptionIsStable() {
        assertThat(backend().name()).isNotBlank().isEqualTo(anotherClient().name());
        assertThat(backend().features()).isEqualTo(backend().features());
        assertThat(Duration.ZERO).isLessThan(lease());
    }
}
