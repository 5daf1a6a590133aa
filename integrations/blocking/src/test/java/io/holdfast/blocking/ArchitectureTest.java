package io.holdfast.blocking;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.holdfast.testkit.ArchitectureRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.blocking");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    /** An application may have neither. */
    @Test
    void onlyOneClassNeedsNettyAndOneNeedsSpringIntegration() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName("io.holdfast.blocking.MustNotBlock$Netty")
                .and()
                .haveNameNotMatching("io.holdfast.blocking.HoldfastLockRegistry.*")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty..", "org.springframework..")
                .check(CODE);
    }

    @Test
    void noBackEndIsUsed() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.holdfast.spi", "io.holdfast.memory..")
                .check(CODE);
    }
}
