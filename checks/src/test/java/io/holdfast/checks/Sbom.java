package io.holdfast.checks;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A list of libraries in the format of CycloneDX.
 *
 * @param licences by group, artifact and version, as SPDX names them
 */
record Sbom(Map<String, String> licences) {

    static Sbom of(Path file) {
        Map<String, String> licences = new TreeMap<>();
        for (Map<?, ?> component : list(Workflow.read(file), "components")) {
            licences.put(
                    "%s:%s:%s".formatted(component.get("group"), component.get("name"), component.get("version")),
                    list(component, "licenses").stream().map(Sbom::name).collect(Collectors.joining(" or ")));
        }
        return new Sbom(licences);
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
