package io.holdfast.test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.holdfast.testkit.ArchitectureRules;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.test");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.internalsAreForCoreOnly().check(CODE);
        ArchitectureRules.nobodyBlocks().check(CODE);
        ArchitectureRules.nobodyReadsAWallClock().check(CODE);
        ArchitectureRules.noDefaultSchedulerIn(Set.of(RealTime.class.getName())).check(CODE);
        ArchitectureRules.publicTypesAreClosed().check(CODE);
    }

    @Test
    void onlyWhatUsersNeedIsPublic() {
        classes()
                .that()
                .doNotBelongToAnyOf(
                        AutoConfigureTestLocks.class, TestLocks.class, Hold.class, Rival.class, LockAssert.class)
                .should()
                .notBePublic()
                .check(CODE);
    }
}
