package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LinksTest {

    @Test
    void everyLinkOfTheDocumentationHasATarget() {
        List<MarkdownPage> pages = MarkdownPage.all();
        assertThat(pages)
                .extracting(MarkdownPage::name)
                .contains("README.md", "CHANGELOG.md", "docs/trust/records/README.md");

        assertThat(pages.stream().flatMap(it -> Links.broken(it).stream())).isEmpty();
    }

    @Test
    void aBrokenLinkIsNamedWithItsLine() {
        MarkdownPage page = page(
                "# One",
                "[a](#one) [b](#two) [c](README.md) [d](nowhere.md) [e](https://nowhere.example) [f][g]",
                "```",
                "[in code](nowhere.md)",
                "```",
                "`[in a span](nowhere.md)` ![image](docs/none.svg)",
                "[h](README.md#features) [i](README.md#promises)",
                "[j]: ../outside.md");

        assertThat(Links.broken(page))
                .containsExactly(
                        "PAGE.md:2: #two names no heading of PAGE.md",
                        "PAGE.md:2: nowhere.md does not exist",
                        "PAGE.md:2: [g] is not defined",
                        "PAGE.md:6: docs/none.svg does not exist",
                        "PAGE.md:7: README.md#promises names no heading of README.md",
                        "PAGE.md:8: ../outside.md is not in the repository");
    }

    @Test
    void anchorsAreThoseOfTheHeadings() {
        assertThat(page("# A failover, and what `confirmGrants` changes", "## Same", "## Same", "## [x](y) & z")
                        .anchors())
                .containsExactlyInAnyOrder("a-failover-and-what-confirmgrants-changes", "same", "same-1", "x--z");
    }

    static MarkdownPage page(String... lines) {
        return new MarkdownPage(Repository.ROOT.resolve("PAGE.md"), "PAGE.md", List.of(lines));
    }
}
