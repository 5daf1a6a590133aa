package io.holdfast.proof.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Thousands of schedules of the real product in a simulated world, each judged by the checker. {@code -Dproof.schedules=1000000} runs more,
 * {@code -Dproof.seed=N} begins with that seed; {@code -Dproof.schedules=1} prints the trace of that schedule.
 */
class CampaignTest {

    @ParameterizedTest
    @EnumSource
    void noScheduleBreaksAPromise(StoreKind kind) {
        Campaign.Report report = Campaign.of(kind).run();
        System.out.println(report);
        assertThat(report.violations()).as(report.toString()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void aSeedAlwaysMakesTheSameSchedule(StoreKind kind) {
        int end = 2_120 + 6 * Integer.getInteger("holdfast.cases", 1);
        for (int seed = 2_120; seed < end; seed++) {
            Schedule.Result once = Schedule.run(kind, seed, Mutant.NONE, false);
            Schedule.Result again = Schedule.run(kind, seed, Mutant.NONE, false);
            assertThat(again.steps()).as("seed %d", seed).isEqualTo(once.steps());
            assertThat(again.print()).as("seed %d", seed).isEqualTo(once.print());
        }
    }

    @Test
    void schedulesReachTheirFaultsAndUses() {
        Campaign.Report report = new Campaign(StoreKind.REDIS, Mutant.NONE, 0, 30).run();
        assertThat(report.acquired()).isGreaterThan(100);
        assertThat(report.lost()).isPositive();
    }

    /** The clock jumps ahead beyond the end of a tombstone, so a request that was on its way takes the lock after its release. */
    @Test
    void aTombstoneLastsByTheClockOfTheServer() {
        assertThat(Schedule.run(StoreKind.REDIS, 20_035_001, Mutant.NONE, false).violations())
                .isEmpty();
    }
}
