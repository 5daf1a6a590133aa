package io.holdfast.benchmarks.chart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The charts that are stored can be read: nothing covers a text, no text leaves the page, and no text is a name of the code. */
class StoredLabelsTest {

    private static final Path RESULTS = Path.of("").toAbsolutePath().resolve("results");

    /** Constants, and names of parameters such as the number of locks in flight. */
    private static final Pattern CODE = Pattern.compile("\\b(?:[A-Z_]{3,}|[a-z]+[A-Z]\\w*)\\b");

    private static final Set<String> NO_CODE = Set.of("CPU", "JDBC", "SQL");

    static List<Path> charts() throws IOException {
        try (Stream<Path> files = Files.walk(RESULTS)) {
            return files.filter(it -> it.toString().endsWith(".svg")).sorted().toList();
        }
    }

    private static Drawn drawn(Path chart) throws Exception {
        return Drawn.of(Files.readString(chart));
    }

    @Test
    void chartsAreStored() throws IOException {
        assertThat(charts()).hasSizeGreaterThan(20);
    }

    @ParameterizedTest
    @MethodSource("charts")
    void noLabelCoversAnotherOrABarOrAMark(Path chart) throws Exception {
        assertThat(drawn(chart).covered()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("charts")
    void everythingIsOnThePage(Path chart) throws Exception {
        assertThat(drawn(chart).outside()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("charts")
    void textsAreNoNamesOfTheCode(Path chart) throws Exception {
        Drawn drawn = drawn(chart);
        Stream.concat(drawn.texts().stream(), Stream.of(drawn.only("title"), drawn.only("desc")))
                .forEach(text -> assertThat(CODE.matcher(text).results().map(it -> it.group()))
                        .as(text)
                        .allMatch(NO_CODE::contains));
    }

    @ParameterizedTest
    @MethodSource("charts")
    void eachColourIsThereForLightAndForDarkPages(Path chart) throws Exception {
        Drawn drawn = drawn(chart);
        String[] schemes = drawn.style().split("@media \\(prefers-color-scheme:dark\\)", -1);
        assertThat(schemes).hasSize(2);
        for (Tone tone : Tone.values()) {
            if (drawn.classes().contains(tone.fill())) {
                assertThat(schemes[0]).contains(".%s{fill:%s}".formatted(tone.fill(), tone.light()));
                assertThat(schemes[1]).contains(".%s{fill:%s}".formatted(tone.fill(), tone.dark()));
            }
            if (drawn.classes().contains(tone.stroke())) {
                assertThat(schemes[0]).contains(".%s{stroke:%s}".formatted(tone.stroke(), tone.light()));
                assertThat(schemes[1]).contains(".%s{stroke:%s}".formatted(tone.stroke(), tone.dark()));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("charts")
    void readersWhoDoNotSeeItHearTitleAndValues(Path chart) throws Exception {
        Drawn drawn = drawn(chart);
        assertThat(drawn.only("title")).isEqualTo(drawn.texts().get(0));
        assertThat(drawn.only("title") + drawn.only("desc")).contains("Holdfast");
        assertThat(drawn.only("desc")).containsPattern("\\d");
    }
}
