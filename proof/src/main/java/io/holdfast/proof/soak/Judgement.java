package io.holdfast.proof.soak;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What is said of one curve.
 *
 * @param column which
 * @param trend of its second half; nothing if there were too few samples
 * @param verdict what follows
 */
record Judgement(Column column, Optional<Trend> trend, Verdict verdict) {

    /** Growth is told for this time, however long the soak was. */
    static final Duration HORIZON = Duration.ofHours(8);

    /** What may be said. */
    enum Verdict {
        /** Even the upper bound of the growth is within the limit. */
        BOUNDED("bounded"),
        /** It grows: the lower bound is above zero, and the growth is beyond the limit. */
        GROWING("GROWS"),
        /** The bounds are too far from each other: only a longer soak can tell. */
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

    /** By how much the curve may grow in the horizon. */
    static double limit(Column column, Trend trend) {
        return column.share() * trend.level();
    }

    static double inHorizon(double slope) {
        return slope * HORIZON.toSeconds();
    }

    /** The worst of all: one that grows, else one that is open. */
    static Verdict worst(List<Judgement> all) {
        return Stream.of(Verdict.GROWING, Verdict.OPEN)
                .filter(verdict -> all.stream().anyMatch(one -> one.verdict() == verdict))
                .findFirst()
                .orElse(Verdict.BOUNDED);
    }
}
