package io.holdfast.redlock;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import io.holdfast.testkit.ArchitectureRules;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    /** From top to bottom: a package may use those on the lines below, and none beside it or above. */
    private static final List<List<String>> FLOORS =
            List.of(List.of("operation", "inspect"), List.of("watch"), List.of("master", "claim"), List.of("quorum"));

    private static final String INTERNAL = "io.holdfast.redlock.internal.";

    /** The values that a listener receives use nothing here. */
    private static final DescribedPredicate<JavaClass> VOTES = DescribedPredicate.describe(
            "are votes", type -> belongToAnyOf(Vote.class, Ballot.class).test(type.getBaseComponentType()));

    private static final DescribedPredicate<JavaClass> BACKEND =
            resideInAPackage("io.holdfast.redlock").and(DescribedPredicate.not(VOTES));

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.redlock");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void packagesUseThoseBelowThemOnly() {
        LayeredArchitecture layers = layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .ensureAllClassesAreContainedInArchitecture()
                .layer("back end")
                .definedBy(BACKEND)
                .layer("votes")
                .definedBy(VOTES)
                .whereLayer("votes")
                .mayNotAccessAnyLayer()
                .whereLayer("back end")
                .mayNotBeAccessedByAnyLayer();
        List<String> below = new ArrayList<>(List.of("votes"));
        for (int floor = FLOORS.size() - 1; floor >= 0; floor--) {
            for (String name : FLOORS.get(floor)) {
                layers = layers.layer(name)
                        .definedBy(INTERNAL + name)
                        .whereLayer(name)
                        .mayOnlyAccessLayers(below.toArray(String[]::new));
            }
            below.addAll(FLOORS.get(floor));
        }

        layers.check(CODE);
    }

    @Test
    void onlyTheBackendAndTheViewOfTheVoteAreForUsers() {
        classes()
                .that()
                .arePublic()
                .and()
                .areTopLevelClasses()
                .and()
                .resideInAPackage("io.holdfast.redlock")
                .should()
                .be(RedlockBackend.class)
                .orShould()
                .be(Vote.class)
                .orShould()
                .be(Ballot.class)
                .check(CODE);
    }

    @Test
    void mastersAreKnownByTheirInterfaceOnly() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.holdfast.redis..", "io.lettuce..", "io.holdfast.internal..")
                .check(CODE);
    }

    @Test
    void theQuorumPackageUsesNoReactorAndNoThreads() {
        noClasses()
                .that(VOTES.or(resideInAPackage(INTERNAL + "quorum")))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "reactor..", "org.reactivestreams..", "java.util.concurrent..", "java.util.random..")
                .check(CODE);
    }
}
