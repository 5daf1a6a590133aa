package io.holdfast.site;

import io.pebbletemplates.pebble.PebbleEngine;
import io.pebbletemplates.pebble.loader.ClasspathLoader;
import java.io.IOException;
import java.io.StringWriter;
import java.util.Map;

/** The templates of Pebble beside this class. What they insert is escaped. */
final class Templates {

    private final PebbleEngine engine;

    Templates() {
        ClasspathLoader loader = new ClasspathLoader(Templates.class.getClassLoader());
        loader.setPrefix("io/holdfast/site");
        engine = new PebbleEngine.Builder().loader(loader).strictVariables(true).build();
    }

    String render(String template, Map<String, Object> values) throws IOException {
        StringWriter text = new StringWriter();
        engine.getTemplate(template).evaluate(text, values);
        return text.toString();
    }
}
