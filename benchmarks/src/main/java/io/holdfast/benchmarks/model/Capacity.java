package io.holdfast.benchmarks.model;

import io.holdfast.benchmarks.report.Sample;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** The section of a report about ten thousand clients. */
public final class Capacity {

    private static final int CLIENTS = 10_000;

    private Capacity() {}

    /** The simulated scenarios, in the order of the table. A run can measure the sizes of the first rows, too. */
    static List<Scenario> scenarios() {
        return List.of(
                Scenario.hold(1_000, 100, 30),
                Scenario.cycle(1_000, 1),
                Scenario.await(1_000, 30),
                Scenario.hold(CLIENTS, 100, 30),
                Scenario.hold(CLIENTS, 100, 60),
                Scenario.hold(CLIENTS, 100, 300),
                Scenario.hold(1_000, 1_000, 30),
                Scenario.hold(100, 10_000, 30),
                Scenario.cycle(CLIENTS, 1),
                Scenario.cycle(CLIENTS, 2),
                Scenario.await(CLIENTS, 30));
    }

    /** Returns the section with heading and tables; empty if the run has not measured the costs of commands. */
    public static String section(Collection<Sample> samples) {
        return CommandCosts.of(samples).map(Capacity::section).orElse("");
    }

    private static String section(CommandCosts costs) {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT, """

                ## Ten thousand clients, simulated

                One Redis runs the commands of all clients, one after the other. Each takes the processor time that this run has measured, of commands that arrive
                alone on their connections: %.1f µs for an acquire or a release, %.1f µs for a renewal and %.2f µs more for each of its leases, %.1f µs for an
                attempt of a waiter. Times are from the arrival of a command at the server to its answer.

                | | commands/s | server busy | p50 ms | p99 ms | max ms |
                | --- | ---: | ---: | ---: | ---: | ---: |
                """, costs.acquireOrRelease(), costs.renewal(), costs.renewedLease(), costs.attempt()));
        for (Scenario scenario : scenarios()) {
            text.append(row(Simulation.run(scenario, costs)));
        }
        return text.toString();
    }

    private static String row(Outcome outcome) {
        String times = outcome.fits()
                ? String.format(
                        Locale.ROOT,
                        "%.2f | %.2f | %.2f",
                        outcome.medianMillis(),
                        outcome.p99Millis(),
                        outcome.maxMillis())
                : "does not fit | – | –";
        return String.format(
                Locale.ROOT,
                "| %s | %,.0f | %.0f %% | %s |%n",
                outcome.scenario().name(),
                outcome.commandsPerSecond(),
                100 * outcome.busy(),
                times);
    }
}
