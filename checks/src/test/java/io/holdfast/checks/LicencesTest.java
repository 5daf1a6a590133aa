package io.holdfast.checks;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Nothing arrives at a user's class path that is not on the list. */
class LicencesTest {

    private static final String HEAD = """
            # Licences

            Holdfast is under the [Apache License 2.0](../../LICENSE).

            These libraries come with it at run time, under licences of their own, as their poms state them. The build fails if one is missing
            here. Each module brings those that name it; `holdfast-spring-boot-starter` also brings what the back end needs that the
            application adds. Nothing is copied into the jars of Holdfast.

            | library | licence | comes with |
            | --- | --- | --- |
            """;

    @Test
    void everyLibraryThatComesAtRunTimeIsListedWithItsLicence() throws IOException {
        Map<String, String> licences = new TreeMap<>();
        Map<String, Set<String>> modules = new TreeMap<>();
        for (PublishedModule module : Repository.published()) {
            for (Dependency it : Dependency.of(module)) {
                if (!it.isOurs()) {
                    licences.computeIfAbsent(it.name(), name -> it.licence());
                    modules.computeIfAbsent(it.name(), name -> new TreeSet<>());
                }
                if (!it.isOurs() && !it.optional()) {
                    modules.get(it.name()).add("`" + module.artifact().replace("holdfast-", "") + "`");
                }
            }
        }
        modules.values().removeIf(Set::isEmpty);
        StringBuilder text = new StringBuilder(HEAD);
        modules.forEach((name, with) -> text.append("| `%s` | %s | %s |%n"
                .formatted(name, licences.get(name), with.contains("`core`") ? "all" : String.join(", ", with))));

        Repository.assertUpToDate(
                Repository.ROOT.resolve("docs/reference/licences.md"), text.toString(), "LicencesTest");
    }
}
