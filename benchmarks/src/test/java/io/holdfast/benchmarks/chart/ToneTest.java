package io.holdfast.benchmarks.chart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Readers can read the text and tell the colours apart, on light and on dark pages. */
class ToneTest {

    /** Of WCAG 2.2, for text and for graphics. */
    private static final double OF_TEXT = 4.5;

    private static final double OF_GRAPHICS = 3;

    /** Tones of text, see {@link Ratios} for the last two. */
    private static final List<Tone> TEXTS = List.of(Tone.TEXT, Tone.QUIET, Tone.HOLDFAST, Tone.LOSS);

    private static final List<Tone> LIBRARIES =
            List.of(Tone.HOLDFAST, Tone.ORANGE, Tone.GREEN, Tone.PURPLE, Tone.LIMIT);

    /** Distances of the Lab space: 2 can just be seen beside each other. */
    private static final double CLEARLY_ANOTHER = 15;

    /** How people without one kind of cone see light: Machado, Oliveira and Fernandes, 2009. */
    private enum Sight {
        ALL,
        NO_GREEN,
        NO_RED;

        private double[] matrix() {
            return switch (this) {
                case ALL -> new double[] {1, 0, 0, 0, 1, 0, 0, 0, 1};
                case NO_GREEN ->
                    new double[] {
                        0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881
                    };
                case NO_RED ->
                    new double[] {
                        0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998
                    };
            };
        }

        double[] lab(String colour) {
            double[] light = light(colour);
            double[] seen = IntStream.range(0, 3)
                    .mapToDouble(row -> IntStream.range(0, 3)
                            .mapToDouble(it -> matrix()[3 * row + it] * light[it])
                            .sum())
                    .map(it -> Math.min(1, Math.max(0, it)))
                    .toArray();
            double x = root((0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.9505);
            double y = root(0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]);
            double z = root((0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.089);
            return new double[] {116 * y - 16, 500 * (x - y), 200 * (y - z)};
        }

        private static double root(double value) {
            return value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16.0 / 116;
        }
    }

    private static final List<Function<Tone, String>> SCHEMES = List.of(Tone::light, Tone::dark);

    private static double[] light(String colour) {
        return IntStream.of(1, 3, 5)
                .mapToDouble(it -> Integer.parseInt(colour.substring(it, it + 2), 16) / 255.0)
                .map(it -> it <= 0.04045 ? it / 12.92 : Math.pow((it + 0.055) / 1.055, 2.4))
                .toArray();
    }

    private static double luminance(String colour) {
        double[] light = light(colour);
        return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
    }

    private static double contrast(String one, String other) {
        double brighter = Math.max(luminance(one), luminance(other));
        double darker = Math.min(luminance(one), luminance(other));
        return (brighter + 0.05) / (darker + 0.05);
    }

    @Test
    void contrastIsThatOfTheStandard() {
        assertThat(contrast("#000000", "#ffffff")).isEqualTo(21);
        assertThat(contrast("#767676", "#ffffff")).isBetween(4.53, 4.55);
    }

    @Test
    void textCanBeRead() {
        for (Function<Tone, String> scheme : SCHEMES) {
            for (Tone page : List.of(Tone.PAGE, Tone.SHADE)) {
                assertThat(TEXTS)
                        .allSatisfy(text -> assertThat(contrast(scheme.apply(text), scheme.apply(page)))
                                .as("%s on %s", text, scheme.apply(page))
                                .isGreaterThanOrEqualTo(OF_TEXT));
            }
        }
    }

    @Test
    void barsAndLinesCanBeSeen() {
        for (Function<Tone, String> scheme : SCHEMES) {
            assertThat(LIBRARIES)
                    .allSatisfy(tone -> assertThat(contrast(scheme.apply(tone), scheme.apply(Tone.PAGE)))
                            .as("%s", tone)
                            .isGreaterThanOrEqualTo(OF_GRAPHICS));
        }
    }

    @ParameterizedTest
    @EnumSource
    void colourBlindReadersCanTellTheLibrariesApart(Sight sight) {
        List<List<Tone>> pairs = new ArrayList<>(List.of(List.of(Tone.HOLDFAST, Tone.LOSS)));
        for (int i = 0; i < LIBRARIES.size(); i++) {
            for (Tone other : LIBRARIES.subList(i + 1, LIBRARIES.size())) {
                pairs.add(List.of(LIBRARIES.get(i), other));
            }
        }
        for (Function<Tone, String> scheme : SCHEMES) {
            assertThat(pairs).allSatisfy(pair -> {
                double[] one = sight.lab(scheme.apply(pair.get(0)));
                double[] other = sight.lab(scheme.apply(pair.get(1)));
                double square = IntStream.range(0, 3)
                        .mapToDouble(it -> (one[it] - other[it]) * (one[it] - other[it]))
                        .sum();
                assertThat(Math.sqrt(square)).as("%s", pair).isGreaterThan(CLEARLY_ANOTHER);
            });
        }
    }
}
