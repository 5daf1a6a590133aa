package io.holdfast.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.ScriptableObject;

/** The index of the search, asked without a browser. */
class SearchTest {

    private static final String LOAD = """
            var sections, index;
            function holdfastSearch(data) { sections = data.sections; index = lunr.Index.load(data.index); }
            function addresses(words) { return index.search(words).slice(0, 12).map(it => sections[it.ref].address).join(' '); }
            """;

    private static ScriptableObject page;

    @BeforeAll
    static void loadTheIndexAsAPageDoes() throws IOException {
        try (Context context = context()) {
            page = context.initStandardObjects();
            evaluate(context, SearchIndex.library());
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

    private static Context context() {
        Context context = Context.enter();
        context.setLanguageVersion(Context.VERSION_ES6);
        return context;
    }

    private static String evaluate(Context context, String script) {
        return Context.toString(context.evaluateString(page, script, "test", 1, null));
    }
}
