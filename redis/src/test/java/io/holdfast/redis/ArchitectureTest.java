package io.holdfast.redis;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.conditions.ArchConditions;
import io.holdfast.redis.internal.call.PlainCall;
import io.holdfast.testkit.ArchitectureRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final Class<?>[] INSPECTION = {
        RedisLockInspector.class,
        LockReport.class,
        ServerReport.class,
        ReportReader.class,
        ServerReports.class,
        KeyScan.class,
        PlainCall.class
    };

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.redis");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void onlyTheBackendItsAddressesAndTheInspectorArePublic() {
        classes()
                .that()
                .arePublic()
                .should()
                .be(RedisLockBackend.class)
                .orShould()
                .be(RedisLockBackend.Builder.class)
                .orShould()
                .be(RedisAddress.class)
                .orShould(ArchConditions.be(belongToAnyOf(INSPECTION)))
                .check(CODE);
    }

    /** Only the builder makes one, for the caller. */
    @Test
    void noLockDependsOnTheInspector() {
        noClasses()
                .that(DescribedPredicate.not(belongToAnyOf(INSPECTION))
                        .and(DescribedPredicate.not(belongToAnyOf(RedisLockBackend.Builder.class))))
                .should()
                .dependOnClassesThat(belongToAnyOf(INSPECTION))
                .check(CODE);
    }

    /** Its synchronous calls wait, and its reactive ones give up the order of the commands. */
    @Test
    void driverIsUsedThroughItsAsynchronousCommandsOnly() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.lettuce.core.api.sync..", "io.lettuce.core.api.reactive..")
                .check(CODE);
    }
}
