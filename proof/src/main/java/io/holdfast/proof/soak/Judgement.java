package io.holdfast.proof.soak;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The judgement of one curve.
 *
 * @param column the figure
 * @param trend the trend of its second half; empty if there were too few samples
 * @param verdict the conclusion
 */
record Judgement(Column column, Optional<Trend> trend, Verdict verdict) {

    /** Growth is stated for this time, for a soak of any length. */
    static final Duration HORIZON = Duration.ofHours(8);

    /** The possible conclusions. */
    enum Verdict {
        /** Even the upper bound of the growth is within the limit. */
        BOUNDED("bounded"),
        /** The curve grows: the lower bound is above zero, and the growth is beyond the limit. */
        GROWING("GROWS"),
        /** The bounds are too far apart: only a longer soak can decide. */
        OPEN("too short to tell");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    static List<Judgement> all(Target target, List<Sample> samples) {
        return Stream.of(Column.values())
                .filter(column -> column.isJudged(target))
                .map(column -> of(column, samples))
                .toList();
    }

    static Judgement of(Column column, List<Sample> samples) {
        return of(column, Sample.all(samples, Column.SECONDS), Sample.all(samples, column));
    }

    static Judgement of(Column column, double[] seconds, double[] values) {
        Optional<Trend> trend = Trend.ofSecondHalf(seconds, values);
        boolean hasSettled = seconds.length > 0 && seconds[seconds.length - 1] / 2 >= column.settlesSeconds();
        return new Judgement(
                column,
                trend,
                trend.map(it -> verdict(it, limit(column, it), hasSettled)).orElse(Verdict.OPEN));
    }

    private static Verdict verdict(Trend trend, double limit, boolean hasSettled) {
        if (inHorizon(trend.most()) <= limit) {
            return Verdict.BOUNDED;
        }
        boolean isGrowing = trend.least() > 0 && inHorizon(trend.slope()) > limit;
        return isGrowing && hasSettled ? Verdict.GROWING : Verdict.OPEN;
    }

    /** Returns the growth that the curve may have in the horizon. */
    static double limit(Column column, Trend trend) {
        return column.share() * trend.level();
    }

    static double inHorizon(double slope) {
        return slope * HORIZON.toSeconds();
    }

    /** Returns the worst conclusion of all: that of a curve that grows, else that of an open one. */
    static Verdict worst(List<Judgement> all) {
        return Stream.of(Verdict.GROWING, Verdict.OPEN)
                .filter(verdict -> all.stream().anyMatch(one -> one.verdict() == verdict))
                .findFirst()
                .orElse(Verdict.BOUNDED);
    }
}
