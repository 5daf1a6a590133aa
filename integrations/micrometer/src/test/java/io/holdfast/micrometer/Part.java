package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.yaml.snakeyaml.Yaml;

/** An object of a JSON or YAML file. A missing entry is a failure of the test. */
record Part(Map<String, Object> entries) {

    /** Reads JSON too, since JSON is YAML. */
    static Part read(String text) {
        return new Part(new Yaml().load(text));
    }

    boolean has(String name) {
        return entries.containsKey(name);
    }

    String text(String name) {
        return value(name, String.class);
    }

    int number(String name) {
        return value(name, Integer.class);
    }

    @SuppressWarnings("unchecked") // keys are text in all three files
    Part part(String name) {
        return new Part(value(name, Map.class));
    }

    @SuppressWarnings("unchecked")
    List<Part> parts(String name) {
        List<Map<String, Object>> elements = value(name, List.class);
        return elements.stream().map(Part::new).toList();
    }

    private <T> T value(String name, Class<T> type) {
        assertThat(entries.get(name)).as(name).isInstanceOf(type);
        return type.cast(entries.get(name));
    }
}
