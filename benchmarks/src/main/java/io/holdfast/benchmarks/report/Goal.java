package io.holdfast.benchmarks.report;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a ratio of two measurements of one run shall be, or one measurement by itself, judged by its median.
 *
 * @param workload for people
 * @param against for people: what the ratio is to
 * @param above the numerator
 * @param below the denominator; null stands for one of the unit
 * @param bound the limit
 * @param limit of the median
 */
public record Goal(
        String workload,
        String against,
        Selector above,
        @Nullable Selector below,
        Bound bound,
        double limit) {

    /** On which side of the limit it is good. */
    public enum Bound {
        /** The more, the better. */
        AT_LEAST("≥"),
        /** The less, the better. */
        AT_MOST("≤");

        private final String sign;

        Bound(String sign) {
            this.sign = sign;
        }

        /** For people. */
        public String sign() {
            return sign;
        }

        boolean isMet(double value, double limit) {
            return this == AT_LEAST ? value >= limit : value <= limit;
        }
    }

    /**
     * How it came out.
     *
     * @param goal that was judged
     * @param above what the numerator was
     * @param below what the denominator was
     * @param ratio of the two, by round
     */
    public record Outcome(Goal goal, Spread above, Spread below, Spread ratio) {

        /** Whether the median is on the good side. */
        public boolean isReached() {
            return goal.bound().isMet(ratio.median(), goal.limit());
        }
    }

    /** Empty when the run did not measure both. */
    public Optional<Outcome> judge(Collection<Sample> samples) {
        Map<Integer, Double> numerators = above.byRound(samples);
        Map<Integer, Double> denominators = below == null ? ones(numerators.keySet()) : below.byRound(samples);
        return Spread.ofRatios(numerators, denominators)
                .map(ratio -> new Outcome(
                        this,
                        Spread.of(numerators.values()).orElseThrow(),
                        Spread.of(denominators.values()).orElseThrow(),
                        ratio));
    }

    private static Map<Integer, Double> ones(Set<Integer> rounds) {
        return rounds.stream().collect(Collectors.toMap(round -> round, round -> 1.0));
    }
}
