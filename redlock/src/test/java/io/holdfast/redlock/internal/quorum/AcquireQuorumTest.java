package io.holdfast.redlock.internal.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redlock.internal.quorum.AcquireQuorum.Next;
import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AcquireQuorumTest {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static LockAttempt granted(long token) {
        return granted(token, LEASE);
    }

    private static LockAttempt granted(long token, Duration lease) {
        return new LockAttempt.Acquired(token, lease);
    }

    /** A client whose clock shows 1970 does not believe this token if only one master grants it. */
    private static final long FAR = TokenFloor.mostBelieved(0) + 1;

    private static LockAttempt refused(long millis) {
        return new LockAttempt.Contended(Duration.ofMillis(millis));
    }

    private static AcquireQuorum ofFive() {
        return AcquireQuorum.of(5, 0);
    }

    @Test
    void firstMajorityWithOneTokenWinsWithoutTheOthers() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(4, granted(7));
        quorum.heard(0, granted(7));
        assertThat(quorum.next()).isEqualTo(new Next.Open());
        quorum.heard(2, granted(7));
        assertThat(quorum.next()).isEqualTo(new Next.Won(7, LEASE));
        assertThat(quorum.rounds()).isEqualTo(1);
    }

    @Test
    void mastersBelowTheHighestTokenGetASecondAttemptAndTheLockIsWonWhenAMajorityHasIt() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(11));
        quorum.heard(1, granted(2));
        quorum.heard(2, granted(2));
        assertThat(quorum.next()).isEqualTo(new Next.Raise(11, List.of(1, 2)));
        assertThat(quorum.next()).isEqualTo(new Next.Open());
        quorum.heard(1, granted(11));
        assertThat(quorum.next()).isEqualTo(new Next.Open());
        quorum.heard(2, granted(11));
        assertThat(quorum.next()).isEqualTo(new Next.Won(11, LEASE));
        assertThat(quorum.rounds()).isEqualTo(2);
    }

    @Test
    void lateGrantOfALowerTokenIsRaisedWhenItIsNeeded() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(11));
        quorum.heard(1, granted(2));
        quorum.heard(2, granted(2));
        assertThat(quorum.next()).isInstanceOf(Next.Raise.class);
        quorum.failed(1);
        quorum.heard(3, granted(5));
        assertThat(quorum.next()).isEqualTo(new Next.Raise(11, List.of(3)));
        quorum.heard(3, granted(11));
        quorum.heard(2, granted(11));
        assertThat(quorum.next()).isEqualTo(new Next.Won(11, LEASE));
    }

    @Test
    void aFreeLockIsWonThoughMastersGrantedHigherTokensThanTheFirstMajority() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(11));
        quorum.heard(1, granted(5));
        quorum.heard(2, granted(5));
        assertThat(quorum.next()).isInstanceOf(Next.Raise.class);
        quorum.heard(3, granted(20));
        quorum.heard(4, granted(20));
        quorum.failed(1);
        assertThat(quorum.next()).isEqualTo(new Next.Won(11, LEASE));
    }

    @Test
    void aLowerTokenThanTheFirstMajoritysDoesNotCountUntilItWasRaised() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(11));
        quorum.heard(1, granted(5));
        quorum.heard(2, granted(5));
        assertThat(quorum.next()).isInstanceOf(Next.Raise.class);
        quorum.heard(3, granted(20));
        quorum.heard(1, refused(5));
        assertThat(quorum.next()).as("11 and 20 are not a majority").isEqualTo(new Next.Open());
        quorum.heard(2, refused(5));
        quorum.heard(4, refused(5));
        assertThat(quorum.next()).isEqualTo(new Next.Lost());
    }

    @Test
    void aMasterThatIgnoresTheFloorGetsNoThirdAttempt() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(11));
        quorum.heard(1, granted(5));
        quorum.heard(2, granted(5));
        assertThat(quorum.next()).isInstanceOf(Next.Raise.class);
        quorum.heard(1, granted(5));
        assertThat(quorum.next()).isEqualTo(new Next.Open());
        quorum.heard(2, granted(11));
        quorum.heard(3, granted(11));
        assertThat(quorum.next()).isEqualTo(new Next.Won(11, LEASE));
    }

    @Test
    void aMasterThatMayNotVoteIsNoContention() {
        AcquireQuorum quarantined = ofFive();
        IntStream.range(0, 3).forEach(quarantined::abstained);
        quarantined.heard(3, refused(5));
        quarantined.heard(4, refused(5));
        assertThat(quarantined.next()).as("no majority may vote").isEqualTo(new Next.Failed());

        AcquireQuorum contended = ofFive();
        IntStream.range(0, 2).forEach(contended::abstained);
        contended.heard(2, refused(5));
        contended.heard(3, granted(7));
        assertThat(contended.next()).as("the last one may abstain as well").isEqualTo(new Next.Open());
        contended.heard(4, granted(7));
        assertThat(contended.next())
                .as("the other three could, and one refuses")
                .isEqualTo(new Next.Lost());

        AcquireQuorum won = ofFive();
        IntStream.range(0, 2).forEach(won::abstained);
        IntStream.range(2, 5).forEach(i -> won.heard(i, granted(7)));
        assertThat(won.next()).isEqualTo(new Next.Won(7, LEASE));
    }

    @Test
    void failedWriteBackOfAMajorityIsUnknownAndNotWon() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(11));
        quorum.heard(1, granted(2));
        quorum.heard(2, granted(2));
        assertThat(quorum.next()).isInstanceOf(Next.Raise.class);
        quorum.failed(1);
        quorum.failed(2);
        quorum.failed(3);
        assertThat(quorum.next())
                .as("the error must have the answer of each master")
                .isEqualTo(new Next.Open());
        quorum.heard(4, refused(5));
        assertThat(quorum.next()).isEqualTo(new Next.Failed());
    }

    @Test
    void tokenThatIsFarAheadCountsAsFailedUnlessAnotherMasterHasIt() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(FAR));
        quorum.heard(1, granted(7));
        quorum.heard(2, granted(7));
        assertThat(quorum.next()).isEqualTo(new Next.Open());
        assertThat(quorum.isDisbelieved(0)).isTrue();
        assertThat(quorum.granted()).isEqualTo(2);

        quorum.heard(3, granted(FAR - 5));
        assertThat(quorum.isDisbelieved(0)).isFalse();
        assertThat(quorum.isDisbelieved(3))
                .as("the one that confirms is confirmed")
                .isFalse();
        assertThat(quorum.next()).isEqualTo(new Next.Raise(FAR, List.of(1, 2, 3)));
        quorum.heard(1, granted(FAR));
        quorum.failed(3);
        quorum.heard(2, granted(FAR));
        assertThat(quorum.next()).isEqualTo(new Next.Won(FAR, LEASE));
    }

    @Test
    void highestOfTwoTokensThatAreFarAheadNeedsAnotherOne() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(FAR));
        quorum.heard(1, granted(FAR + 2_000));
        quorum.heard(2, granted(7));
        quorum.heard(3, granted(7));
        assertThat(quorum.isDisbelieved(1)).isTrue();
        assertThat(quorum.next()).isEqualTo(new Next.Raise(FAR, List.of(2, 3)));
        assertThat(quorum.highestGranted()).isEqualTo(FAR);
    }

    @Test
    void withoutAMajorityOfBelievedTokensTheRoundFails() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(FAR));
        quorum.heard(1, granted(7));
        quorum.heard(2, granted(7));
        quorum.failed(3);
        assertThat(quorum.next()).isEqualTo(new Next.Open());
        quorum.failed(4);
        assertThat(quorum.next()).isEqualTo(new Next.Failed());
    }

    @Test
    void claimThatHoldsTheLockKeepsItsTokenOrLosesTheAttempt() {
        AcquireQuorum quorum = AcquireQuorum.ofHolder(50, new long[] {50, 50, 50, 0, 0});
        quorum.heard(0, granted(50));
        quorum.heard(1, granted(51));
        quorum.heard(2, granted(52));
        assertThat(quorum.next()).isEqualTo(new Next.Open());
        quorum.heard(3, refused(5));
        assertThat(quorum.next()).isEqualTo(new Next.Lost());
    }

    @Test
    void claimThatHoldsTheLockKeepsItWhereItWasRestoredToo() {
        AcquireQuorum quorum = AcquireQuorum.ofHolder(50, new long[] {50, 70, 80, 0, 0});
        quorum.heard(0, granted(50));
        quorum.heard(1, granted(70));
        quorum.heard(2, granted(80));
        assertThat(quorum.next()).isEqualTo(new Next.Won(50, LEASE));
    }

    @Test
    void aGrantThatMayBeTheOneFromBeforeIsUnknown() {
        AcquireQuorum quorum = AcquireQuorum.ofHolder(50, new long[] {50, 50, 50, 0, 0});
        quorum.failed(0);
        quorum.heard(1, granted(50));
        quorum.heard(2, granted(50));
        quorum.heard(3, granted(70));
        assertThat(quorum.next()).isEqualTo(new Next.Open());
        quorum.heard(4, granted(80));
        assertThat(quorum.next()).isEqualTo(new Next.Failed());
    }

    @Test
    void aHolderHasNotLostTheLockWhileMastersThatFailedMayMakeItsMajority() {
        AcquireQuorum quorum = AcquireQuorum.ofHolder(50, new long[] {50, 50, 50, 0, 0});
        quorum.heard(0, granted(50));
        quorum.heard(1, granted(50));
        quorum.failed(2);
        quorum.heard(3, refused(5));
        quorum.heard(4, refused(5));
        assertThat(quorum.next()).isEqualTo(new Next.Failed());
    }

    @Test
    void aMasterThatAbstainsFromTheSecondRoundMayHaveItsFirstVote() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(11));
        quorum.heard(1, granted(2));
        quorum.heard(2, granted(2));
        assertThat(quorum.next()).isInstanceOf(Next.Raise.class);
        quorum.abstained(1);
        quorum.abstained(3);
        assertThat(quorum.hasRefused(1)).as("it has to be undone").isFalse();
        assertThat(quorum.hasRefused(3)).isTrue();
    }

    @Test
    void leaseIsWhatAMajorityPromisesAtLeast() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(7, Duration.ofSeconds(30)));
        quorum.heard(1, granted(7, Duration.ofSeconds(10)));
        quorum.heard(2, granted(7, Duration.ofSeconds(20)));
        assertThat(quorum.next()).isEqualTo(new Next.Won(7, Duration.ofSeconds(10)));
    }

    @Test
    void lockIsExpectedFreeWhenAMajorityIs() {
        AcquireQuorum quorum = ofFive();
        quorum.heard(0, granted(7));
        quorum.heard(1, refused(500));
        quorum.heard(2, refused(100));
        quorum.heard(3, refused(9_000));
        assertThat(quorum.majorityFreeWithin(LEASE)).isEqualTo(Duration.ofMillis(500));
        assertThat(ofFive().majorityFreeWithin(LEASE)).isEqualTo(LEASE);
    }

    /**
     * In any order of answers: won exactly if a majority granted, with a token that a majority holds and that none of
     * its grants exceeds.
     */
    @Test
    void anyOrderOfAnswersGivesAMajorityWithOneToken() {
        Random random = new Random(3);
        for (int run = 0; run < 5_000; run++) {
            int masters = 3 + 2 * random.nextInt(3);
            AcquireQuorum quorum = AcquireQuorum.of(masters, 0);
            long[] tokens = new long[masters];
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, masters).boxed().toList());
            Collections.shuffle(order, random);
            List<Integer> toAnswer = new ArrayList<>(order);
            Next next = new Next.Open();
            long raisedTo = 0;
            while (!(next instanceof Next.Won || next instanceof Next.Lost || next instanceof Next.Failed)) {
                assertThat(toAnswer)
                        .as("decided with the last answer at the latest")
                        .isNotEmpty();
                int master = toAnswer.remove(random.nextInt(toAnswer.size()));
                switch (random.nextInt(8)) {
                    case 0 -> quorum.failed(master);
                    case 1 -> quorum.heard(master, refused(3));
                    default -> {
                        tokens[master] = Math.max(Math.max(tokens[master], raisedTo), 1 + random.nextInt(3));
                        quorum.heard(master, granted(tokens[master]));
                    }
                }
                next = quorum.next();
                if (next instanceof Next.Raise raise) {
                    assertThat(raisedTo == 0 || raisedTo == raise.token()).isTrue();
                    raisedTo = raise.token();
                    toAnswer.addAll(raise.masters());
                }
            }
            if (next instanceof Next.Won won) {
                long holders = IntStream.range(0, masters)
                        .filter(i -> tokens[i] >= won.token() && !quorum.isPending(i) && !quorum.hasRefused(i))
                        .count();
                assertThat(holders).isGreaterThanOrEqualTo(masters / 2 + 1);
            }
        }
    }
}
