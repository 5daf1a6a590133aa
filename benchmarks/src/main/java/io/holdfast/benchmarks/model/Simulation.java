package io.holdfast.benchmarks.model;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/**
 * Clients at one server. A client sends at random moments, as real clients that know nothing of each other do. Only the processor of the server is scarce: the
 * network takes the same time for each message, and the clients answer at once.
 */
final class Simulation {

    /** As the library spreads renewals: each client has ten moments in a third of the lease, and leases that are due at one moment go out together. */
    private static final int MOMENTS = 10;

    private static final int MOST_IN_A_RENEWAL = 500;
    private static final double WORK_MICROS = 20_000;
    private static final double NETWORK_MICROS = 100;
    private static final double SECOND = 1e6;
    private static final double LEAST_SECONDS = 30;

    private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingDouble(Event::at));
    private final Server server = new Server();
    private final CommandCosts costs;
    private final Random random;
    private long commands;

    /**
     * A command that arrives.
     *
     * @param takes its processor time
     * @param next from the time of its answer to the arrival of the next command of this client; negative for none
     */
    private record Event(double at, double takes, DoubleUnaryOperator next) {}

    private Simulation(CommandCosts costs, Random random) {
        this.costs = costs;
        this.random = random;
    }

    /** Runs the scenario for two thirds of a lease, and for half a minute at least. */
    static Outcome run(Scenario scenario, CommandCosts costs) {
        Simulation simulation = new Simulation(costs, new Random(scenario.name().hashCode()));
        double seconds = Math.max(LEAST_SECONDS, 2.0 / 3 * scenario.leaseSeconds());
        for (int client = 0; client < scenario.clients(); client++) {
            switch (scenario.load()) {
                case HOLD -> simulation.hold(scenario);
                case CYCLE -> simulation.cycle(scenario);
                case WAIT -> simulation.await(scenario);
            }
        }
        simulation.runUntil(seconds * SECOND);
        return new Outcome(
                scenario,
                simulation.commands / seconds,
                simulation.server.busy() / SECOND / seconds,
                simulation.server.times().getMean() / 1e3,
                simulation.server.times().getValueAtPercentile(50) / 1e3,
                simulation.server.times().getValueAtPercentile(99) / 1e3,
                simulation.server.times().getMaxValue() / 1e3);
    }

    private void runUntil(double end) {
        for (Event event = events.poll(); event != null && event.at() < end; event = events.poll()) {
            double answered = server.run(event.at(), event.takes());
            commands++;
            double next = event.next().applyAsDouble(answered);
            if (next >= 0) {
                events.add(new Event(next, event.takes(), event.next()));
            }
        }
    }

    /** The client acquired its leases at random moments, so each is due at a random one of its moments. */
    private void hold(Scenario scenario) {
        double period = scenario.leaseSeconds() * SECOND / 3;
        double phase = random.nextDouble() * period / MOMENTS;
        int[] due = new int[MOMENTS];
        for (int lease = 0; lease < scenario.leases(); lease++) {
            due[random.nextInt(MOMENTS)]++;
        }
        for (int moment = 0; moment < MOMENTS; moment++) {
            for (int rest = due[moment]; rest > 0; rest -= MOST_IN_A_RENEWAL) {
                double takes = costs.renewal(Math.min(rest, MOST_IN_A_RENEWAL));
                every(period, phase + moment * period / MOMENTS, takes);
            }
        }
    }

    /** An attempt in each third of the lease. */
    private void await(Scenario scenario) {
        double period = scenario.leaseSeconds() * SECOND / 3;
        every(period, random.nextDouble() * period, costs.attempt());
    }

    private void every(double period, double first, double takes) {
        double[] next = {first};
        events.add(new Event(first, takes, answered -> next[0] += period));
    }

    /** Acquires, works, releases, and rests for a random time. */
    private void cycle(Scenario scenario) {
        double rest = SECOND / scenario.cyclesPerSecond() - WORK_MICROS - 4 * NETWORK_MICROS;
        boolean[] isHeld = {false};
        DoubleUnaryOperator next = answered -> {
            isHeld[0] = !isHeld[0];
            return answered + 2 * NETWORK_MICROS + (isHeld[0] ? WORK_MICROS : pause(rest));
        };
        events.add(new Event(pause(rest), costs.acquireOrRelease(), next));
    }

    /** Exponentially distributed, so that the clients begin in the state in which they go on. */
    private double pause(double mean) {
        return -Math.log(1 - random.nextDouble()) * mean;
    }
}
