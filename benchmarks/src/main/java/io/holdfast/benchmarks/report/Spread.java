package io.holdfast.benchmarks.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Least, middle and greatest of some numbers.
 *
 * @param least of all
 * @param median the mean of the two in the middle, if there are two
 * @param greatest of all
 * @param count how many there were
 */
public record Spread(double least, double median, double greatest, int count) {

    /** Empty for no numbers. */
    public static Optional<Spread> of(Collection<Double> numbers) {
        if (numbers.isEmpty()) {
            return Optional.empty();
        }
        List<Double> sorted = numbers.stream().sorted().toList();
        int middle = sorted.size() / 2;
        double median = sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return Optional.of(new Spread(sorted.get(0), median, sorted.get(sorted.size() - 1), sorted.size()));
    }

    /**
     * The ratio in each round that has both. What a machine does meanwhile concerns both of one round more than it concerns two of
     * different rounds.
     *
     * @param above by round
     * @param below by round
     */
    public static Optional<Spread> ofRatios(Map<Integer, Double> above, Map<Integer, Double> below) {
        List<Double> ratios = new ArrayList<>();
        above.forEach((round, value) -> {
            Double other = below.get(round);
            if (other != null && other != 0) {
                ratios.add(value / other);
            }
        });
        return of(ratios);
    }
}
