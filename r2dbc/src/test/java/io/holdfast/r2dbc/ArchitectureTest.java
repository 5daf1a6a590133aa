package io.holdfast.r2dbc;

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
import com.tngtech.archunit.lang.conditions.ArchConditions;
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

    /** What an inspector answers: values that see no room. */
    private static final DescribedPredicate<JavaClass> REPORTS = DescribedPredicate.describe(
            "are reports", type -> belongToAnyOf(R2dbcLockReport.class).test(type.getBaseComponentType()));

    private static final DescribedPredicate<JavaClass> DOORS =
            resideInAPackage("io.holdfast.r2dbc").and(DescribedPredicate.not(REPORTS));

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
                .layer("reports")
                .definedBy(REPORTS)
                .whereLayer("reports")
                .mayNotAccessAnyLayer()
                .whereLayer("doors")
                .mayNotBeAccessedByAnyLayer();
        List<String> below = new ArrayList<>(List.of("reports"));
        for (int floor = FLOORS.size() - 1; floor >= 0; floor--) {
            String room = FLOORS.get(floor);
            house = house.layer(room).definedBy(ROOM + room);
            house = house.whereLayer(room).mayOnlyAccessLayers(below.toArray(String[]::new));
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
                .orShould(ArchConditions.be(REPORTS))
                .check(CODE);
    }

    /** Only the builder makes one, for the caller. */
    @Test
    void noLockDependsOnTheInspector() {
        DescribedPredicate<JavaClass> inspection =
                REPORTS.or(belongToAnyOf(R2dbcLockInspector.class)).or(resideInAPackage(ROOM + "inspect"));
        noClasses()
                .that(DescribedPredicate.not(inspection.or(belongToAnyOf(R2dbcLockBackend.Builder.class))))
                .should()
                .dependOnClassesThat(inspection)
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
