package io.holdfast.redlock;

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
            .importPackages("io.holdfast.redlock");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void onlyTheBackendAndTheViewOfTheVoteArePublic() {
        classes()
                .that()
                .arePublic()
                .and()
                .areTopLevelClasses()
                .should()
                .be(RedlockBackend.class)
                .orShould()
                .be(Vote.class)
                .orShould()
                .be(Ballot.class)
                .check(CODE);
    }

    @Test
    void mastersAreKnownByTheirInterfaceOnly() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.holdfast.redis..", "io.lettuce..", "io.holdfast.internal..")
                .check(CODE);
    }

    @Test
    void whatDecidesKnowsNoReactorAndNoThreads() {
        noClasses()
                .that()
                .belongToAnyOf(
                        Tally.class,
                        Election.class,
                        TokenFloor.class,
                        Pauses.class,
                        WatchTally.class,
                        Vote.class,
                        Ballot.class)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("reactor..", "org.reactivestreams..", "java.util.concurrent..")
                .check(CODE);
    }
}
