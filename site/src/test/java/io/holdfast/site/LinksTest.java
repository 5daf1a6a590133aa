package io.holdfast.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class LinksTest {

    private static final Set<String> PAGES = Set.of("README.md", "docs/README.md", "docs/start/redis.md");

    private final Links links = new Links(PAGES, "https://forge.test/holdfast/blob/main");

    @Test
    void linksBetweenPagesStayOnTheSite() {
        assertThat(links.target("README.md", "docs/start/redis.md#users")).isEqualTo("docs/start/redis.html#users");
        assertThat(links.target("docs/start/redis.md", "../../README.md")).isEqualTo("../../readme.html");
        assertThat(links.target("docs/start/redis.md", "../README.md")).isEqualTo("../index.html");
        assertThat(links.target("docs/README.md", "#start")).isEqualTo("#start");
        assertThat(links.target("docs/README.md", "https://redis.io")).isEqualTo("https://redis.io");
    }

    @Test
    void linksToFilesLeadToTheForge() {
        assertThat(links.target("docs/start/redis.md", "../../core/api.txt"))
                .isEqualTo("https://forge.test/holdfast/blob/main/core/api.txt");
    }

    @Test
    void whileTheProjectHasNoAddressThereAreNoLinksToFiles() {
        assertThat(new Links(PAGES, "https://holdfast.example/x").target("README.md", "LICENSE"))
                .isEmpty();
    }

    @Test
    void picturesComeAlong() {
        assertThat(links.target("docs/start/redis.md", "life.svg")).isEqualTo("life.svg");
        assertThat(links.pictures()).containsExactly("docs/start/life.svg");
    }
}
