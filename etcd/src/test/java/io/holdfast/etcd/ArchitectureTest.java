package io.holdfast.etcd;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.holdfast.testkit.ArchitectureRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.etcd");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void onlyTheBackendAndTheFenceAreForUsers() {
        classes()
                .that()
                .arePublic()
                .should()
                .be(EtcdLockBackend.class)
                .orShould()
                .be(EtcdLockBackend.Builder.class)
                .orShould()
                .be(EtcdFence.class)
                .check(CODE);
    }

    @Test
    void decisionsArePure() {
        noClasses()
                .that()
                .haveSimpleName("Line")
                .or()
                .haveSimpleName("Standing")
                .or()
                .haveSimpleName("Tracked")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("reactor.core.scheduler..")
                .check(CODE);
    }
}
