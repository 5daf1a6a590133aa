package io.holdfast.redlock.internal.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redlock.internal.quorum.VoteCount.Decision;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VoteCountTest {

    private static final int RUNS = 20_000;

    @ParameterizedTest(name = "{0} yes, {1} no, {2} failed of five: quorum {3}, holding {4}")
    @CsvSource({
        "0, 0, 0, OPEN, OPEN",
        "2, 2, 0, OPEN, OPEN",
        "3, 0, 0, YES, YES",
        "3, 2, 0, YES, YES",
        "0, 3, 0, NO, NO",
        "2, 3, 0, NO, NO",
        "0, 0, 3, OPEN, UNKNOWN",
        "1, 0, 3, OPEN, UNKNOWN",
        "2, 0, 3, UNKNOWN, UNKNOWN",
        "2, 1, 2, NO, UNKNOWN",
        "1, 2, 2, NO, UNKNOWN",
        "1, 1, 2, OPEN, UNKNOWN",
        "0, 1, 2, OPEN, OPEN",
        "2, 2, 1, NO, UNKNOWN"
    })
    void decides(int yes, int no, int failed, Decision quorum, Decision holding) {
        VoteCount tally = new VoteCount(5, yes, no, failed);
        assertThat(tally.ofElection()).isEqualTo(quorum);
        assertThat(tally.ofHolding()).isEqualTo(holding);
    }

    @Test
    void decisionIsFinalAndComesWithTheLastVoteAtTheLatest() {
        Random random = new Random(1);
        for (int run = 0; run < RUNS; run++) {
            int masters = 3 + 2 * random.nextInt(4);
            VoteCount tally = VoteCount.none(masters);
            Decision quorum = Decision.OPEN;
            Decision holding = Decision.OPEN;
            for (int vote = 0; vote < masters; vote++) {
                tally = switch (random.nextInt(3)) {
                    case 0 -> tally.plusYes();
                    case 1 -> tally.plusNo();
                    default -> tally.plusFailed();
                };
                quorum = next(quorum, tally.ofElection(), tally);
                holding = next(holding, tally.ofHolding(), tally);
            }
            assertThat(quorum).as("%s", tally).isNotEqualTo(Decision.OPEN);
            assertThat(holding).as("%s", tally).isNotEqualTo(Decision.OPEN);
        }
    }

    private static Decision next(Decision before, Decision now, VoteCount tally) {
        if (before != Decision.OPEN) {
            assertThat(now)
                    .as("once decided, later votes change nothing: %s", tally)
                    .isEqualTo(before);
        }
        return now;
    }

    @Test
    void failedVoteIsNeverReadAsAYesOrANo() {
        Random random = new Random(2);
        for (int run = 0; run < RUNS; run++) {
            int masters = 3 + 2 * random.nextInt(4);
            int failed = random.nextInt(masters + 1);
            int yes = random.nextInt(masters - failed + 1);
            VoteCount tally = new VoteCount(masters, yes, masters - failed - yes, failed);
            boolean couldHold = yes + failed >= tally.majority();
            boolean couldNotHold = tally.no() + failed >= tally.majority();
            boolean isUncertain = couldHold && couldNotHold;
            assertThat(tally.ofHolding() == Decision.UNKNOWN).as("%s", tally).isEqualTo(isUncertain);
        }
    }

    @Test
    void twoMajoritiesOfOneVoteCannotBothSayYes() {
        for (int masters = 3; masters <= 11; masters += 2) {
            for (int mine = 0; mine <= masters; mine++) {
                boolean iWin = new VoteCount(masters, mine, masters - mine, 0).ofElection() == Decision.YES;
                boolean otherWins = new VoteCount(masters, masters - mine, mine, 0).ofElection() == Decision.YES;
                assertThat(iWin && otherWins).isFalse();
            }
        }
    }
}
