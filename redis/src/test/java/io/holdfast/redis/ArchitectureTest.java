package io.holdfast.redis;

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
import io.holdfast.redis.internal.inspect.KeyScan;
import io.holdfast.redis.internal.inspect.ServerReports;
import io.holdfast.testkit.ArchitectureRules;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    /** From top to bottom: a package may use those on the lines below, and none beside it or above. */
    private static final List<List<String>> FLOORS = List.of(
            List.of("operation"),
            List.of("inspect"),
            List.of("pubsub", "safety"),
            List.of("call"),
            List.of("topology"),
            List.of("connection"),
            List.of("protocol"),
            List.of("script"),
            List.of("error", "address"));

    private static final String ROOM = "io.holdfast.redis.internal.";

    /** What an inspector reports: values that use no other package. */
    private static final DescribedPredicate<JavaClass> REPORTS = DescribedPredicate.describe(
            "are reports", type -> belongToAnyOf(ServerReport.class).test(type.getBaseComponentType()));

    private static final DescribedPredicate<JavaClass> DOORS =
            resideInAPackage("io.holdfast.redis").and(DescribedPredicate.not(REPORTS));

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.redis");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void packagesUseThoseBelowThemOnly() {
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
            for (String room : FLOORS.get(floor)) {
                house = house.layer(room)
                        .definedBy(ROOM + room)
                        .whereLayer(room)
                        .mayOnlyAccessLayers(below.toArray(String[]::new));
            }
            below.addAll(FLOORS.get(floor));
        }

        house.check(CODE);
    }

    @Test
    void onlyTheBackendItsAddressesAndTheInspectorAreForUsers() {
        classes()
                .that()
                .arePublic()
                .and()
                .resideInAPackage("io.holdfast.redis")
                .should()
                .be(RedisLockBackend.class)
                .orShould()
                .be(RedisLockBackend.Builder.class)
                .orShould()
                .be(RedisAddress.class)
                .orShould()
                .be(RedisLockInspector.class)
                .orShould(ArchConditions.be(REPORTS))
                .check(CODE);
    }

    /**
     * Only the builder makes an inspector, for the caller. A back end reads the holders of one lock by the same script.
     */
    @Test
    void noLockDependsOnTheInspector() {
        DescribedPredicate<JavaClass> inspection =
                REPORTS.or(belongToAnyOf(RedisLockInspector.class, KeyScan.class, ServerReports.class));
        noClasses()
                .that(DescribedPredicate.not(inspection.or(belongToAnyOf(RedisLockBackend.Builder.class))))
                .should()
                .dependOnClassesThat(inspection)
                .check(CODE);
    }

    /** The driver's synchronous calls wait, and its reactive ones give up the order of the commands. */
    @Test
    void driverIsUsedThroughItsAsynchronousCommandsOnly() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.lettuce.core.api.sync..", "io.lettuce.core.api.reactive..")
                .check(CODE);
    }
}
