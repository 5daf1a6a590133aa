package io.holdfast.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.ScriptableObject;

/** The search, asked without a browser. */
class SearchTest {

    private static final String LOAD = """
            var sections, index;
            function holdfastSearch(data) { sections = data.sections; index = lunr.Index.load(data.index); }
            function addresses(words) { return holdfastFind.find(index, sections, words).slice(0, 12).map(it => it.address).join(' '); }
            function marked(text, words) { return text.split(' ').filter(it => holdfastFind.matches(it, holdfastFind.words(words))).join(' '); }
            """;

    private static ScriptableObject page;

    @BeforeAll
    static void loadTheIndexAsAPageDoes() throws IOException {
        try (Context context = context()) {
            page = context.initStandardObjects();
            evaluate(context, SearchIndex.library());
            evaluate(context, BuiltSite.read(BuiltSite.VERSION.resolve("search.js")));
            evaluate(context, LOAD);
            evaluate(context, BuiltSite.read(BuiltSite.VERSION.resolve("search-index.js")));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "quarantine, docs/operate/redlock.html",
        "semaphore, docs/guides/recipes.html",
        "waitTimeout, docs/reference/options.html",
        "migrating redisson, docs/decide/migrating/redisson.html",
        "LockLostException, docs/reference/exceptions.html",
        "pgbouncer, docs/operate/databases.html",
        "elasticache, docs/operate/rented-servers.html",
        "cloud sql, docs/operate/rented-servers.html",
    })
    void theIndexFindsKnownWords(String words, String address) {
        try (Context context = context()) {
            assertThat(evaluate(context, "addresses('" + words + "')")).contains(address);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "who holds a lock, docs/operate/looking-in.html",
        "spring boot 3, docs/guides/spring-boot.html",
        "kubernetes, docs/operate/kubernetes.html",
        "elasticache, docs/operate/rented-servers.html",
        "how do I migrate from redisson, docs/decide/migrating/",
    })
    void theRightPageComesFirst(String words, String address) {
        try (Context context = context()) {
            assertThat(evaluate(context, "addresses('" + words + "')")).startsWith(address);
        }
    }

    /** Readers who want to use the library search more often than those who check it. */
    @ParameterizedTest
    @ValueSource(strings = {"fence", "cancel", "waiters", "lease", "renewal"})
    void trustAndRecordsComeLast(String words) {
        try (Context context = context()) {
            List<String> found = List.of(evaluate(
                            context,
                            "holdfastFind.find(index, sections, '%s').map(it => it.address).join(' ')".formatted(words))
                    .split(" "));
            int first = IntStream.range(0, found.size())
                    .filter(at -> found.get(at).startsWith("docs/trust/"))
                    .findFirst()
                    .orElseThrow();
            assertThat(found.subList(0, first)).anyMatch(it -> it.startsWith("docs/guides/"));
            assertThat(found.subList(first, found.size()))
                    .noneMatch(it -> it.matches("docs/(start|guides|reference|decide|operate)/.*"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "who holds a lock, a lock holds what holdfast, lock holds",
        "spring boot 3, spring boots 3 30 bootstrap, spring boots 3 bootstrap",
        "a, a banana, ''",
    })
    void wholeWordsAreMarkedAndNoStopWords(String typed, String text, String marked) {
        try (Context context = context()) {
            assertThat(evaluate(context, "marked('" + text + "', '" + typed + "')"))
                    .isEqualTo(marked);
        }
    }

    private static Context context() {
        Context context = Context.enter();
        context.setLanguageVersion(Context.VERSION_ES6);
        return context;
    }

    private static String evaluate(Context context, String script) {
        return Context.toString(context.evaluateString(page, script, "test", 1, null));
    }
}
