package io.holdfast.checks;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.net.URI;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Only its own module may use an internal package, although the compiler shows its public classes to every module. */
class InternalsTest {

    @Test
    void noModuleUsesTheInternalsOfAnother() {
        JavaClasses code = new ClassFileImporter()
                .importLocations(Repository.published().stream()
                        .map(it -> Location.of(URI.create("jar:" + it.jar().toUri() + "!/")))
                        .toList());
        int withInternals = 0;
        for (PublishedModule module : Repository.published()) {
            Set<String> own = module.classes().stream().map(Class::getName).collect(Collectors.toSet());
            boolean hasInternals = own.stream().anyMatch(name -> name.contains(".internal."));
            withInternals += hasInternals ? 1 : 0;
            noClasses()
                    .that(DescribedPredicate.describe(
                            "are not in " + module.artifact(), it -> !own.contains(it.getFullName())))
                    .should()
                    .dependOnClassesThat(internalsOf(module, own))
                    .check(code);
        }
        assertThat(withInternals).as("modules with internals").isGreaterThan(2);
    }

    private static DescribedPredicate<JavaClass> internalsOf(PublishedModule module, Set<String> own) {
        return DescribedPredicate.describe(
                "are internals of " + module.artifact(),
                it -> own.contains(it.getFullName()) && (it.getPackageName() + ".").contains(".internal."));
    }
}
