package io.holdfast.vertx;

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
            .importPackages("io.holdfast.vertx");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void onlyTheViewAndTheSchedulerArePublic() {
        classes()
                .that()
                .arePublic()
                .should()
                .be(VertxLocks.class)
                .orShould()
                .be(VertxLock.class)
                .orShould()
                .be(VertxLease.class)
                .orShould()
                .be(ContextScheduler.class)
                .check(CODE);
    }

    /** The view works with any back end and any Vert.x 5, so it uses only the public API of Vert.x. */
    @Test
    void noInternalsOfVertxAndNoBackEndAreUsed() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.vertx.core.internal..", "io.vertx.core.impl..", "io.holdfast.spi..", "io.netty..")
                .check(CODE);
    }
}
