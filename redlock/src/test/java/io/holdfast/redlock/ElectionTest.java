package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redlock.Election.Next;
import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ElectionTest {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private static LockAttempt granted(long token) {
        return granted(token, LEASE);
    }

    private static LockAttempt granted(long token, Duration lease) {
        return new LockAttempt.Acquired(token, lease);
    }

    private static LockAttempt refused(long millis) {
        return new LockAttempt.Contended(Duration.ofMillis(millis));
    }

    private static Election ofFive() {
        return Election.of(5);
    }

    @Test
    void firstMajorityWithOneTokenWinsWithoutTheOthers() {
        Election election = ofFive();
        election.heard(4, granted(7));
        election.heard(0, granted(7));
        assertThat(election.next()).isEqualTo(new Next.Open());
        election.heard(2, granted(7));
        assertThat(election.next()).isEqualTo(new Next.Won(7, LEASE));
        assertThat(election.rounds()).isEqualTo(1);
    }

    @Test
    void mastersBelowTheHighestTokenAreAskedForItAndTheLockIsWonWhenAMajorityHasIt() {
        Election election = ofFive();
        election.heard(0, granted(11));
        election.heard(1, granted(2));
        election.heard(2, granted(2));
        assertThat(election.next()).isEqualTo(new Next.Raise(11, List.of(1, 2)));
        assertThat(election.next()).isEqualTo(new Next.Open());
        election.heard(1, granted(11));
        assertThat(election.next()).isEqualTo(new Next.Open());
        election.heard(2, granted(11));
        assertThat(election.next()).isEqualTo(new Next.Won(11, LEASE));
        assertThat(election.rounds()).isEqualTo(2);
    }

    @Test
    void lateGrantOfALowerTokenIsRaisedWhenItIsNeeded() {
        Election election = ofFive();
        election.heard(0, granted(11));
        election.heard(1, granted(2));
        election.heard(2, granted(2));
        assertThat(election.next()).isInstanceOf(Next.Raise.class);
        election.failed(1);
        election.heard(3, granted(5));
        assertThat(election.next()).isEqualTo(new Next.Raise(11, List.of(3)));
        election.heard(3, granted(11));
        election.heard(2, granted(11));
        assertThat(election.next()).isEqualTo(new Next.Won(11, LEASE));
    }

    @Test
    void aFreeLockIsWonThoughMastersGrantedHigherTokensThanTheFirstMajority() {
        Election election = ofFive();
        election.heard(0, granted(11));
        election.heard(1, granted(5));
        election.heard(2, granted(5));
        assertThat(election.next()).isInstanceOf(Next.Raise.class);
        election.heard(3, granted(20));
        election.heard(4, granted(20));
        election.failed(1);
        assertThat(election.next()).isEqualTo(new Next.Won(11, LEASE));
    }

    @Test
    void aLowerTokenThanTheFirstMajoritysDoesNotCountUntilItWasRaised() {
        Election election = ofFive();
        election.heard(0, granted(11));
        election.heard(1, granted(5));
        election.heard(2, granted(5));
        assertThat(election.next()).isInstanceOf(Next.Raise.class);
        election.heard(3, granted(20));
        election.heard(1, refused(5));
        assertThat(election.next()).as("11 and 20 are no majority").isEqualTo(new Next.Open());
        election.heard(2, refused(5));
        election.heard(4, refused(5));
        assertThat(election.next()).isEqualTo(new Next.Lost());
    }

    @Test
    void aMasterThatIgnoresTheFloorIsNotAskedForEver() {
        Election election = ofFive();
        election.heard(0, granted(11));
        election.heard(1, granted(5));
        election.heard(2, granted(5));
        assertThat(election.next()).isInstanceOf(Next.Raise.class);
        election.heard(1, granted(5));
        assertThat(election.next()).isEqualTo(new Next.Open());
        election.heard(2, granted(11));
        election.heard(3, granted(11));
        assertThat(election.next()).isEqualTo(new Next.Won(11, LEASE));
    }

    @Test
    void aMasterThatMayNotVoteIsNoContention() {
        Election quarantined = ofFive();
        IntStream.range(0, 3).forEach(quarantined::abstained);
        quarantined.heard(3, refused(5));
        quarantined.heard(4, refused(5));
        assertThat(quarantined.next()).as("no majority may vote").isEqualTo(new Next.Failed());

        Election contended = ofFive();
        IntStream.range(0, 2).forEach(contended::abstained);
        contended.heard(2, refused(5));
        contended.heard(3, granted(7));
        assertThat(contended.next()).as("the last one may abstain as well").isEqualTo(new Next.Open());
        contended.heard(4, granted(7));
        assertThat(contended.next())
                .as("the other three could, and one refuses")
                .isEqualTo(new Next.Lost());

        Election won = ofFive();
        IntStream.range(0, 2).forEach(won::abstained);
        IntStream.range(2, 5).forEach(i -> won.heard(i, granted(7)));
        assertThat(won.next()).isEqualTo(new Next.Won(7, LEASE));
    }

    @Test
    void failedWriteBackOfAMajorityIsUnknownAndNotWon() {
        Election election = ofFive();
        election.heard(0, granted(11));
        election.heard(1, granted(2));
        election.heard(2, granted(2));
        assertThat(election.next()).isInstanceOf(Next.Raise.class);
        election.failed(1);
        election.failed(2);
        election.failed(3);
        assertThat(election.next()).as("the error shall tell what each said").isEqualTo(new Next.Open());
        election.heard(4, refused(5));
        assertThat(election.next()).isEqualTo(new Next.Failed());
    }

    @Test
    void claimThatHoldsTheLockKeepsItsTokenOrLosesTheLook() {
        Election election = Election.ofHolder(50, new long[] {50, 50, 50, 0, 0});
        election.heard(0, granted(50));
        election.heard(1, granted(51));
        election.heard(2, granted(52));
        assertThat(election.next()).isEqualTo(new Next.Open());
        election.heard(3, refused(5));
        assertThat(election.next()).isEqualTo(new Next.Lost());
    }

    @Test
    void claimThatHoldsTheLockKeepsItWhereItWasPutBackToo() {
        Election election = Election.ofHolder(50, new long[] {50, 70, 80, 0, 0});
        election.heard(0, granted(50));
        election.heard(1, granted(70));
        election.heard(2, granted(80));
        assertThat(election.next()).isEqualTo(new Next.Won(50, LEASE));
    }

    @Test
    void leaseIsWhatAMajorityPromisesAtLeast() {
        Election election = ofFive();
        election.heard(0, granted(7, Duration.ofSeconds(30)));
        election.heard(1, granted(7, Duration.ofSeconds(10)));
        election.heard(2, granted(7, Duration.ofSeconds(20)));
        assertThat(election.next()).isEqualTo(new Next.Won(7, Duration.ofSeconds(10)));
    }

    @Test
    void lockIsExpectedFreeWhenAMajorityIs() {
        Election election = ofFive();
        election.heard(0, granted(7));
        election.heard(1, refused(500));
        election.heard(2, refused(100));
        election.heard(3, refused(9_000));
        assertThat(election.majorityFreeWithin(LEASE)).isEqualTo(Duration.ofMillis(500));
        assertThat(ofFive().majorityFreeWithin(LEASE)).isEqualTo(LEASE);
    }

    /** In any order of answers: won exactly when a majority granted, with a token that a majority holds and none of it exceeds. */
    @Test
    void anyOrderOfAnswersGivesAMajorityWithOneToken() {
        Random random = new Random(3);
        for (int run = 0; run < 5_000; run++) {
            int masters = 3 + 2 * random.nextInt(3);
            Election election = Election.of(masters);
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
                    case 0 -> election.failed(master);
                    case 1 -> election.heard(master, refused(3));
                    default -> {
                        tokens[master] = Math.max(Math.max(tokens[master], raisedTo), 1 + random.nextInt(3));
                        election.heard(master, granted(tokens[master]));
                    }
                }
                next = election.next();
                if (next instanceof Next.Raise raise) {
                    assertThat(raisedTo == 0 || raisedTo == raise.token()).isTrue();
                    raisedTo = raise.token();
                    toAnswer.addAll(raise.masters());
                }
            }
            if (next instanceof Next.Won won) {
                long holders = IntStream.range(0, masters)
                        .filter(i -> tokens[i] >= won.token() && !election.isPending(i) && !election.hasRefused(i))
                        .count();
                assertThat(holders).isGreaterThanOrEqualTo(masters / 2 + 1);
            }
        }
    }
}
