package io.holdfast.benchmarks.report;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Chooses samples.
 *
 * @param benchmark what ran
 * @param metric what was measured
 * @param parameters that a sample must have, among others
 */
public record Selector(String benchmark, String metric, Map<String, String> parameters) {

    /** With a copy of the parameters. */
    public Selector {
        parameters = Map.copyOf(parameters);
    }

    /** With one more parameter, or another value of it. */
    public Selector with(String name, String value) {
        Map<String, String> more = new TreeMap<>(parameters);
        more.put(name, value);
        return new Selector(benchmark, metric, more);
    }

    /** Whether a sample is one of them. */
    public boolean selects(Sample sample) {
        return sample.benchmark().equals(benchmark)
                && sample.metric().equals(metric)
                && sample.parameters().entrySet().containsAll(parameters.entrySet());
    }

    /**
     * The values by round.
     *
     * @throws IllegalArgumentException if this selects two in one round: it is not exact enough then
     */
    public Map<Integer, Double> byRound(Collection<Sample> samples) {
        return samples.stream()
                .filter(this::selects)
                .collect(Collectors.toMap(
                        Sample::round,
                        Sample::value,
                        (one, other) -> {
                            throw new IllegalArgumentException("two values in one round for " + this);
                        },
                        TreeMap::new));
    }
}
