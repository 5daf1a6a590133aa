package io.holdfast.benchmarks.model;

import io.holdfast.benchmarks.report.Sample;
import java.util.Collection;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * The processor time of the server for one command that arrives alone on its connection, in microseconds. Each figure contains the reading of the request
 * and the writing of the answer.
 *
 * @param acquireOrRelease the mean of the two commands of an uncontended cycle
 * @param renewal a renewal without its leases
 * @param renewedLease the additional time for each lease of a renewal
 * @param attempt an attempt of a waiter that stays in the queue
 */
record CommandCosts(double acquireOrRelease, double renewal, double renewedLease, double attempt) {

    /** The observation that measures the costs. */
    static final String OBSERVATION = "ManyClients";

    static final String LOAD = "load";
    static final String CLIENTS = "clients";
    static final String LEASES = "leases";
    static final String MICROS_PER_COMMAND = "server CPU µs/command";
    static final String LEASES_PER_COMMAND = "leases/command";

    /** Returns the costs; empty if the run has not measured all of them. */
    static Optional<CommandCosts> of(Collection<Sample> samples) {
        OptionalDouble cycle = micros(samples, "CYCLES", "0");
        OptionalDouble attempt = micros(samples, "WAITING", "0");
        OptionalDouble few = micros(samples, "HELD", "1");
        OptionalDouble many = micros(samples, "HELD", "20");
        OptionalDouble leasesOfFew = value(samples, "HELD", "1", LEASES_PER_COMMAND);
        OptionalDouble leasesOfMany = value(samples, "HELD", "20", LEASES_PER_COMMAND);
        if (Stream.of(cycle, attempt, few, many, leasesOfFew, leasesOfMany).anyMatch(OptionalDouble::isEmpty)) {
            return Optional.empty();
        }
        double perLease =
                (many.getAsDouble() - few.getAsDouble()) / (leasesOfMany.getAsDouble() - leasesOfFew.getAsDouble());
        double perRenewal = few.getAsDouble() - leasesOfFew.getAsDouble() * perLease;
        return Optional.of(new CommandCosts(cycle.getAsDouble(), perRenewal, perLease, attempt.getAsDouble()));
    }

    private static OptionalDouble micros(Collection<Sample> samples, String load, String leases) {
        return value(samples, load, leases, MICROS_PER_COMMAND);
    }

    private static OptionalDouble value(Collection<Sample> samples, String load, String leases, String metric) {
        return samples.stream()
                .filter(it -> it.benchmark().equals(OBSERVATION) && it.metric().equals(metric))
                .filter(it -> load.equals(it.parameters().get(LOAD))
                        && leases.equals(it.parameters().get(LEASES)))
                .mapToDouble(Sample::value)
                .average();
    }

    /** Returns the cost of a renewal with the given number of leases. */
    double renewal(int leases) {
        return renewal + leases * renewedLease;
    }
}
