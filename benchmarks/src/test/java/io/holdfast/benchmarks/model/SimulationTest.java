package io.holdfast.benchmarks.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.holdfast.benchmarks.report.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** Compares the simulation with numbers that can be computed in another way. */
class SimulationTest {

    private static final CommandCosts COSTS = new CommandCosts(40, 30, 8, 50);
    private static final Offset<Double> FEW_PERCENT = within(0.05);

    /** The mean time of commands that arrive at random and take the same time each is that of Pollaczek and Khinchine. */
    @Test
    void commandsThatArriveAtRandomWaitAsQueueingTheorySays() {
        for (double busy : new double[] {0.2, 0.5, 0.8}) {
            Server server = new Server();
            Random random = new Random(1);
            double now = 0;
            for (int command = 0; command < 1_000_000; command++) {
                now += -Math.log(1 - random.nextDouble()) * 1_000 / busy;
                double unused = server.run(now, 1_000);
            }

            assertThat(server.times().getMean()).isCloseTo(1_000 * (1 + busy / 2 / (1 - busy)), withinPercentage(3));
        }
    }

    /** A release comes 20 ms after the answer to its acquire, and answers are at least one command apart: so releases rarely meet. */
    @Test
    void cyclesWaitLessThanCommandsThatArriveAtRandom() {
        Outcome half = Simulation.run(Scenario.cycle(10_000, 0.625), COSTS);

        assertThat(half.busy()).isCloseTo(0.5, FEW_PERCENT);
        assertThat(half.meanMillis()).isBetween(0.040 * 1.25, 0.040 * 1.5);
    }

    @Test
    void eachLeaseIsRenewedOnceInAThirdOfItsDuration() {
        Outcome held = Simulation.run(Scenario.hold(1_000, 100, 30), COSTS);

        // Ten moments of each client in ten seconds, and 100,000 leases.
        assertThat(held.commandsPerSecond()).isCloseTo(1_000, within(20.0));
        assertThat(held.busy()).isCloseTo((1_000 * 30 + 10_000 * 8) / 1e6, FEW_PERCENT);
    }

    @Test
    void leasesOfOneMomentShareARenewalOfAtMostFiveHundred() {
        Outcome held = Simulation.run(Scenario.hold(10, 100_000, 30), COSTS);

        // 10,000 leases of a client at each moment: twenty commands and, since the moments differ by chance, sometimes
        // one more.
        assertThat(held.commandsPerSecond()).isBetween(200.0, 211.0);
    }

    @Test
    void waitersSendAnAttemptInEachThirdOfTheLease() {
        Outcome waiting = Simulation.run(Scenario.await(10_000, 30), COSTS);

        assertThat(waiting.commandsPerSecond()).isCloseTo(1_000, within(20.0));
        assertThat(waiting.busy()).isCloseTo(0.05, within(0.005));
    }

    @Test
    void moreWorkThanOneProcessorDoesNotFit() {
        Outcome tooMuch = Simulation.run(Scenario.hold(10_000, 100, 30), COSTS);

        assertThat(tooMuch.fits()).isFalse();
        assertThat(tooMuch.busy()).isCloseTo(1.1, FEW_PERCENT);
    }

    @Test
    void theSameScenarioComesOutTheSame() {
        assertThat(Simulation.run(Scenario.cycle(1_000, 1), COSTS))
                .isEqualTo(Simulation.run(Scenario.cycle(1_000, 1), COSTS));
    }

    @Test
    void costsOfARenewalAndOfALeaseAreTakenFromTwoMeasurements() {
        List<Sample> samples = new ArrayList<>();
        samples.add(sample("CYCLES", 0, CommandCosts.MICROS_PER_COMMAND, 40));
        samples.add(sample("WAITING", 0, CommandCosts.MICROS_PER_COMMAND, 50));
        samples.add(sample("HELD", 1, CommandCosts.MICROS_PER_COMMAND, 38));
        samples.add(sample("HELD", 1, CommandCosts.LEASES_PER_COMMAND, 1));
        samples.add(sample("HELD", 20, CommandCosts.MICROS_PER_COMMAND, 110));
        samples.add(sample("HELD", 20, CommandCosts.LEASES_PER_COMMAND, 10));

        assertThat(CommandCosts.of(samples)).contains(COSTS);
        assertThat(Capacity.section(samples))
                .contains("| 10,000 clients hold 100 leases of 30 s each | 10,000 | 110 % | does not fit | – | – |");
    }

    @Test
    void aRunThatMeasuredSomethingElseHasNoSection() {
        assertThat(Capacity.section(List.of(sample("CYCLES", 0, CommandCosts.MICROS_PER_COMMAND, 40))))
                .isEmpty();
    }

    private static Sample sample(String load, int leases, String metric, double value) {
        Map<String, String> parameters = Map.of("load", load, "clients", "1000", "leases", Integer.toString(leases));
        return new Sample(CommandCosts.OBSERVATION, parameters, metric, value, 1);
    }
}
