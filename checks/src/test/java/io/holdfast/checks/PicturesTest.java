package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Pictures of the documentation are text: people search it, screen readers read it, and it has colours for a dark page. */
class PicturesTest {

    private static final Pattern IMAGE = Pattern.compile("!\\[([^\\]]*)\\]\\(([^)\\s]+)\\)");

    /** A line of 390 pixels shows 13 px letters of such a picture at 11 px or more. */
    private static final int WIDEST = 460;

    @Test
    void eachPictureOfThePagesCanBeReadByPeopleAndPrograms() {
        List<Path> pictures = Repository.files(".svg").stream()
                .filter(file -> file.startsWith(Repository.ROOT.resolve("docs")))
                .toList();
        assertThat(pictures).isNotEmpty();

        assertThat(pictures.stream()
                        .flatMap(
                                file -> problems(Repository.read(file)).stream().map(it -> file + ": " + it)))
                .isEmpty();
    }

    @Test
    void aPictureWithoutWordsOrColoursIsNamed() {
        assertThat(problems("<svg width=\"860\"><image href=\"a.png\"/></svg>"))
                .containsExactly(
                        "no <title>",
                        "no <desc>",
                        "no colours for a dark page",
                        "no text",
                        "an image in place of text",
                        "wider than " + WIDEST);
    }

    @Test
    void eachImageOfAPageHasAText() {
        assertThat(MarkdownPage.all().stream()
                        .flatMap(page -> page.prose().stream()
                                .flatMap(line -> IMAGE.matcher(line).results())
                                .filter(image -> image.group(1).isBlank())
                                .map(MatchResult::group)
                                .map(image -> page.name() + ": " + image)))
                .isEmpty();
    }

    private static List<String> problems(String svg) {
        List<String> problems = new ArrayList<>();
        for (String element : List.of("title", "desc")) {
            if (!svg.contains("<" + element + " ")) {
                problems.add("no <" + element + ">");
            }
        }
        if (!svg.contains("prefers-color-scheme: dark")) {
            problems.add("no colours for a dark page");
        }
        if (!svg.contains("<text ")) {
            problems.add("no text");
        }
        if (svg.contains("<image")) {
            problems.add("an image in place of text");
        }
        boolean isNarrow = Pattern.compile("^<svg [^>]*\\bwidth=\"(\\d+)\"")
                .matcher(svg)
                .results()
                .anyMatch(it -> Integer.parseInt(it.group(1)) <= WIDEST);
        if (!isNarrow) {
            problems.add("wider than " + WIDEST);
        }
        return problems;
    }
}
