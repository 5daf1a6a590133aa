package io.holdfast.r2dbc;

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

    /** From the top of the house to its cellar: a room sees those on the floors below, and none above. */
    private static final List<String> FLOORS =
            List.of("inspect", "operation", "push", "lane", "error", "dialect", "protocol");

    private static final String ROOM = "io.holdfast.r2dbc.internal.";

    private static final DescribedPredicate<JavaClass> DOORS = resideInAPackage("io.holdfast.r2dbc");

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.r2dbc");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void arrowsBetweenTheRoomsLeadDownwards() {
        LayeredArchitecture house = layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .ensureAllClassesAreContainedInArchitecture()
                .layer("doors")
                .definedBy(DOORS)
                .whereLayer("doors")
                .mayNotBeAccessedByAnyLayer();
        List<String> below = new ArrayList<>();
        for (int floor = FLOORS.size() - 1; floor >= 0; floor--) {
            String room = FLOORS.get(floor);
            house = house.layer(room).definedBy(ROOM + room);
            house = below.isEmpty()
                    ? house.whereLayer(room).mayNotAccessAnyLayer()
                    : house.whereLayer(room).mayOnlyAccessLayers(below.toArray(String[]::new));
            below.add(room);
        }
        house.check(CODE);
    }

    @Test
    void onlyTheBackendTheFenceAndTheInspectorAreForUsers() {
        classes()
                .that()
                .arePublic()
                .and()
                .resideInAPackage("io.holdfast.r2dbc")
                .should()
                .be(R2dbcLockBackend.class)
                .orShould()
                .be(R2dbcLockBackend.Builder.class)
                .orShould()
                .be(Fence.class)
                .orShould()
                .be(R2dbcLockInspector.class)
                .check(CODE);
    }

    /** Another database is another class there. */
    @Test
    void onlyItsDialectKnowsADriver() {
        noClasses()
                .that(DescribedPredicate.not(resideInAPackage(ROOM + "dialect")))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.r2dbc.postgresql..", "org.mariadb..", "io.asyncer..")
                .check(CODE);
    }

    @Test
    void protocolIsPure() {
        noClasses()
                .that()
                .resideInAPackage(ROOM + "protocol")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("reactor..", "io.r2dbc..", "org.reactivestreams..")
                .check(CODE);
    }
}
