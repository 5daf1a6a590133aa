package io.holdfast.checks;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A list of libraries in the format of CycloneDX.
 *
 * @param licences by group, artifact and version, as SPDX names them
 * @param required without those that an application gets only if it asks for them
 */
record Sbom(Map<String, String> licences, Set<String> required) {

    static Sbom of(Path file) {
        Map<String, String> licences = new TreeMap<>();
        Set<String> required = new TreeSet<>();
        for (Map<?, ?> component : list(Workflow.read(file), "components")) {
            String name = "%s:%s:%s".formatted(component.get("group"), component.get("name"), component.get("version"));
            licences.put(
                    name, list(component, "licenses").stream().map(Sbom::name).collect(Collectors.joining(" or ")));
            if (Objects.equals(component.get("scope"), "required")) {
                required.add(name);
            }
        }
        return new Sbom(licences, required);
    }

    /** Of whichever version is listed here: several modules together may have another one than each of them. */
    String licence(Dependency library) {
        return licences.entrySet().stream()
                .filter(it -> it.getKey().startsWith(library.name() + ":"))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow(() -> new AssertionError(library.name() + " is not among " + licences.keySet()));
    }

    /** JSON is YAML. */
    @SuppressWarnings("unchecked")
    private static List<Map<?, ?>> list(Map<?, ?> of, String key) {
        return (List<Map<?, ?>>) Objects.requireNonNullElse(of.get(key), List.of());
    }

    private static String name(Map<?, ?> choice) {
        Object expression = choice.get("expression");
        if (expression != null) {
            return expression.toString();
        }
        Map<?, ?> licence = (Map<?, ?>) choice.get("license");
        return Objects.requireNonNullElse(licence.get("id"), licence.get("name"))
                .toString();
    }
}
