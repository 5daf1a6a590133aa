package io.holdfast.micrometer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.holdfast.testkit.ArchitectureRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void onlyThisModuleKnowsMicrometer() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.holdfast.micrometer..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.micrometer..")
                .check(CODE);
    }
}
