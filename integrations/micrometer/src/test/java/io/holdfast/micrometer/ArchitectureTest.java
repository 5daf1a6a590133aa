package io.holdfast.micrometer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.holdfast.testkit.ArchitectureRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.micrometer");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void onlyWhatUsersNeedIsPublic() {
        classes()
                .that()
                .doNotBelongToAnyOf(
                        LockFamilies.class,
                        LockMeterDocumentation.class,
                        LockMeterDocumentation.TagName.class,
                        LockMetrics.class,
                        LockObservationContext.class,
                        LockObservationConvention.class,
                        LockObservationDocumentation.class,
                        LockObservationDocumentation.Event.class,
                        LockObservationDocumentation.HighCardinality.class,
                        LockObservationDocumentation.LowCardinality.class,
                        ObservedLocks.class)
                .should()
                .notBePublic()
                .check(CODE);
    }
}
