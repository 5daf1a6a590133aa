package io.holdfast.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.junit.jupiter.api.Test;

/** The site as files. What it is in a browser, {@link BrowserIT} shows. */
class SiteTest {

    private static final Map<Path, Document> PAGES = BuiltSite.pages().stream()
            .collect(Collectors.toMap(it -> it, BuiltSite::page, (one, other) -> one, LinkedHashMap::new));

    private static final Pattern MARKDOWN =
            Pattern.compile("<!--|```|\\]\\(|\\*\\*|^#{1,6} |\\|\\s*-{3,}", Pattern.MULTILINE);
    private static final Pattern LOADS = Pattern.compile("@import|url\\(|fetch\\(|XMLHttpRequest|https?://");

    @Test
    void everyPageOfTheRepositoryIsThereExceptThoseOfAnArchive() {
        List<String> sources = Stream.of("README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "benchmarks/README")
                .map(it -> it + ".md")
                .collect(Collectors.toCollection(ArrayList::new));
        BuiltSite.files(BuiltSite.REPOSITORY.resolve("docs"), ".md").stream()
                .map(it -> BuiltSite.REPOSITORY.relativize(it).toString())
                .forEach(sources::add);

        assertThat(sources).hasSizeGreaterThan(100);
        assertThat(sources)
                .allSatisfy(source -> assertThat(BuiltSite.VERSION.resolve(Page.address(source)))
                        .matches(page -> Files.isRegularFile(page) != source.contains("/archive/")));
    }

    @Test
    void theFrontPageHasThePitchOfTheReadmeTheFiguresAndCodeForEachStyle() {
        Document front = BuiltSite.page("index.html");
        Document readme = BuiltSite.page("readme.html");

        assertThat(front.select(".tabs label").eachText())
                .containsExactly("WebFlux", "Kotlin", "Vert.x", "Blocking", "Spring");
        assertThat(front.select(".tab pre code")).hasSize(5);
        assertThat(front.select(".tab code.language-kotlin").text()).startsWith("suspend fun");
        assertThat(front.select("article > p").eachText())
                .startsWith(readme.select("article > p").get(0).text());
        assertThat(front.select("article > ul > li").eachText())
                .hasSize(4)
                .isEqualTo(readme.select("article > ul").get(0).select("li").eachText());
        assertThat(front.select("article > pre").text()).contains("holdfast.jar list");
        assertThat(front.select("article > h2").eachText()).containsExactly("Figures#");
        assertThat(front.select("article table").eachText())
                .isEqualTo(readme.select("#figures ~ .table").eachText().subList(0, 1));
    }

    @Test
    void everyPageHasOneTitleAndItsOwnCanonicalAddress() {
        PAGES.forEach((file, page) -> {
            String address = BuiltSite.VERSIONS.get(0) + "/" + BuiltSite.VERSION.relativize(file);
            assertThat(page.select("h1")).as(address).hasSize(1);
            assertThat(page.select("link[rel=canonical]").attr("href"))
                    .startsWith("https://")
                    .endsWith("/" + address);
        });
    }

    @Test
    void everyLinkInTheSiteLeadsSomewhere() {
        List<String> broken = new ArrayList<>();
        Stream.concat(BuiltSite.files(BuiltSite.ROOT, "index.html").stream(), PAGES.keySet().stream())
                .distinct()
                .forEach(file -> {
                    Document page = BuiltSite.page(file);
                    Stream.of("href", "src")
                            .flatMap(name ->
                                    page.select("[" + name + "]").stream().map(it -> it.attr(name)))
                            .distinct()
                            .filter(link -> !leadsSomewhere(file, link))
                            .forEach(link -> broken.add(BuiltSite.ROOT.relativize(file) + ": " + link));
                });

        assertThat(broken).isEmpty();
    }

    private static boolean leadsSomewhere(Path from, String link) {
        URI target = URI.create(link);
        if (target.isAbsolute()) {
            return Set.of("https", "http", "mailto", "data").contains(target.getScheme());
        }
        Path file = target.getPath().isEmpty()
                ? from
                : from.resolveSibling(target.getPath()).normalize();
        if (!file.startsWith(BuiltSite.ROOT) || !Files.isRegularFile(file)) {
            return false;
        }
        Document page = PAGES.get(file);
        return target.getFragment() == null || (page != null && page.getElementById(target.getFragment()) != null);
    }

    @Test
    void noPageLoadsAnythingFromElsewhere() {
        PAGES.forEach((file, page) -> assertThat(page.select("[src], link[rel=stylesheet], link[rel=icon]"))
                .as(file.toString())
                .extracting(it -> it.hasAttr("src") ? it.attr("src") : it.attr("href"))
                .allMatch(it -> it.equals("data:,") || !URI.create(it).isAbsolute()));
        assertThat(PAGES.values())
                .allMatch(page ->
                        page.select("style, iframe, object, embed, [style]").isEmpty());
        assertThat(List.of("site.css", "site.js", "search.js", "theme.js"))
                .allSatisfy(name -> assertThat(BuiltSite.read(BuiltSite.VERSION.resolve(name)))
                        .doesNotContainPattern(LOADS));
    }

    @Test
    void noMarkdownAndNoCommentIsLeft() {
        PAGES.forEach((file, page) -> {
            Document prose = page.clone();
            prose.select("code").remove();
            assertThat(prose.wholeText()).as(file.toString()).doesNotContainPattern(MARKDOWN);
            assertThat(BuiltSite.read(file).contains("<!--"))
                    .as("a comment in %s", file)
                    .isFalse();
        });
    }

    @Test
    void everyPageIsInTheNavigationInTheOrderOfTheDocumentation() {
        List<String> listed = BuiltSite.page("docs/index.html").select("article li a").eachAttr("href").stream()
                .filter(it -> it.endsWith(".html"))
                .toList();
        List<String> shown =
                BuiltSite.page("docs/index.html").select("#menu li a").eachAttr("href");
        List<Path> turned = new ArrayList<>();
        for (Path page = BuiltSite.VERSION.resolve("index.html"); page != null; page = next(page)) {
            turned.add(page);
        }

        assertThat(listed).hasSizeGreaterThan(30);
        assertThat(shown).containsSubsequence(listed);
        assertThat(turned).containsExactlyInAnyOrderElementsOf(PAGES.keySet());
        PAGES.forEach((file, page) -> {
            assertThat(page.select("#menu [aria-current=page]"))
                    .as(file.toString())
                    .hasSize(1);
            assertThat(page.select("#menu li a").eachText()).as(file.toString()).doesNotHaveDuplicates();
        });
    }

    private static Path next(Path page) {
        String next = PAGES.get(page).select("a[rel=next]").attr("href");
        return next.isEmpty() ? null : page.resolveSibling(next).normalize();
    }

    @Test
    void theListBesideThePageNamesItsSections() {
        assertThat(BuiltSite.page("docs/start/redis.html").select(".contents a").eachAttr("href"))
                .isNotEmpty()
                .isEqualTo(BuiltSite.page("docs/start/redis.html").select("article :is(h2, h3)").stream()
                        .map(it -> "#" + it.id())
                        .toList());
    }

    @Test
    void codeIsMarkedAsWhatItIs() {
        assertThat(code("docs/start/redis.html", "java", ".keyword")).contains("public", "final", "class");
        assertThat(code("readme.html", "java", ".comment")).contains("// sends nothing yet");
        assertThat(code("docs/guides/recipes.html", "java", ".keyword")).doesNotContain("permits", "with");
        assertThat(code("readme.html", "sql", ".keyword")).contains("update", "where");
        assertThat(code("readme.html", "xml", ".name")).contains("groupId");
        assertThat(code("docs/guides/kotlin.html", "kotlin", ".keyword")).contains("fun", "val");
        assertThat(code("docs/guides/spring-boot.html", "properties", ".keyword, .name"))
                .anyMatch(it -> it.startsWith("holdfast."));
    }

    private static List<String> code(String address, String language, String kind) {
        return BuiltSite.page(address)
                .select("pre code.language-" + language + " :is(" + kind + ")")
                .eachText();
    }

    /** The text of a block is what people copy. */
    @Test
    void aBlockOfCodeHasTheTextOfItsSource() {
        Element program =
                BuiltSite.page("readme.html").select("code.language-java").first();

        assertThat(program).isNotNull();
        assertThat(BuiltSite.read(BuiltSite.REPOSITORY.resolve("README.md"))).contains(program.wholeText());
    }

    @Test
    void theRootLeadsToTheNewestVersionAndNamesAll() {
        assertThat(BuiltSite.page(BuiltSite.ROOT.resolve("index.html"))
                        .select("meta[http-equiv=refresh]")
                        .attr("content"))
                .isEqualTo("0; url=%s/index.html", BuiltSite.VERSIONS.get(0));
        assertThat(BuiltSite.read(BuiltSite.ROOT.resolve("versions.js"))).contains(BuiltSite.VERSIONS);
    }
}
