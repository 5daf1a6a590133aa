package io.holdfast.site;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.mozilla.javascript.Context;
import org.mozilla.javascript.NativeObject;
import org.mozilla.javascript.ScriptableObject;

/** What the search looks into. lunr makes the index here, in Rhino, so a reader's browser does not have to. */
final class SearchIndex {

    private static final String LUNR = "/META-INF/resources/webjars/lunr/2.3.9/lunr.min.js";

    private SearchIndex() {}

    /** A script that gives the index to the page that loads it. A page without a server can load a script, and nothing else. */
    static String of(List<Section> sections, Map<String, String> descriptions) throws IOException {
        try (Context context = Context.enter()) {
            context.setLanguageVersion(Context.VERSION_ES6);
            ScriptableObject scope = context.initStandardObjects();
            Object[] entries = sections.stream()
                    .map(section -> entry(context, scope, section, descriptions))
                    .toArray();
            ScriptableObject.putProperty(scope, "sections", context.newArray(scope, entries));
            Object unused = context.evaluateString(scope, library(), "lunr.js", 1, null);
            Object index =
                    context.evaluateString(scope, Resource.read(SearchIndex.class, "index.js"), "index.js", 1, null);
            return "holdfastSearch(" + Context.toString(index) + ");\n";
        }
    }

    /** The library that searches, in the browser too. */
    static String library() throws IOException {
        return Resource.read(SearchIndex.class, LUNR);
    }

    private static Object entry(
            Context context, ScriptableObject scope, Section section, Map<String, String> descriptions) {
        NativeObject entry = (NativeObject) context.newObject(scope);
        ScriptableObject.putProperty(entry, "address", section.address() + "#" + section.anchor());
        ScriptableObject.putProperty(entry, "page", section.page());
        ScriptableObject.putProperty(entry, "heading", section.heading());
        boolean isPage = section.level() == 1;
        ScriptableObject.putProperty(entry, "isPage", isPage);
        ScriptableObject.putProperty(entry, "about", isPage ? descriptions.getOrDefault(section.address(), "") : "");
        ScriptableObject.putProperty(entry, "names", section.names().toString().strip());
        ScriptableObject.putProperty(entry, "text", section.text().toString().strip());
        return entry;
    }
}
