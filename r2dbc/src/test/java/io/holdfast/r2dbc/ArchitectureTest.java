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

    /** The layers from top to bottom: a package uses the packages in the layers below, and none above. */
    private static final List<String> LAYERS = List.of(
            "inspect",
            "operation",
            "push",
            "lane",
            "error",
            "databases",
            "postgresql",
            "mariadb",
            "dialect",
            "protocol");

    private static final String INTERNAL = "io.holdfast.r2dbc.internal.";

    private static final DescribedPredicate<JavaClass> PUBLIC = resideInAPackage("io.holdfast.r2dbc");

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.r2dbc");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void packagesUseOnlyThoseBelowThem() {
        LayeredArchitecture architecture = layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .ensureAllClassesAreContainedInArchitecture()
                .layer("public")
                .definedBy(PUBLIC)
                .whereLayer("public")
                .mayNotBeAccessedByAnyLayer();
        List<String> below = new ArrayList<>();
        for (int index = LAYERS.size() - 1; index >= 0; index--) {
            String layer = LAYERS.get(index);
            architecture = architecture.layer(layer).definedBy(INTERNAL + layer);
            architecture = below.isEmpty()
                    ? architecture.whereLayer(layer).mayNotAccessAnyLayer()
                    : architecture.whereLayer(layer).mayOnlyAccessLayers(below.toArray(String[]::new));
            below.add(layer);
        }
        architecture.check(CODE);
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

    /** Another database would be another room. */
    @Test
    void roomsOfTheDatabasesDoNotKnowEachOther() {
        noClasses()
                .that()
                .resideInAPackage(INTERNAL + "postgresql")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(INTERNAL + "mariadb")
                .check(CODE);
    }

    @Test
    void onlyItsRoomKnowsADriver() {
        noClasses()
                .that(DescribedPredicate.not(resideInAPackage(INTERNAL + "postgresql")))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.r2dbc.postgresql..", "org.mariadb..", "io.asyncer..")
                .check(CODE);
    }

    @Test
    void protocolIsPure() {
        noClasses()
                .that()
                .resideInAPackage(INTERNAL + "protocol")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("reactor..", "io.r2dbc..", "org.reactivestreams..")
                .check(CODE);
    }
}
