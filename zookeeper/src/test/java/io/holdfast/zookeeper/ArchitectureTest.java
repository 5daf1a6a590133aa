package io.holdfast.zookeeper;

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
            .importPackages("io.holdfast.zookeeper");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void onlyTheBackendAndWhatIsInItArePublic() {
        classes()
                .that()
                .arePublic()
                .and()
                .areTopLevelClasses()
                .should()
                .be(ZooKeeperLockBackend.class)
                .orShould()
                .be(DriverLocks.class) // found by name
                .check(CODE);
    }

    /** Curator's recipes park a thread per waiter, and its background calls block on the way. */
    @Test
    void curatorGivesTheSessionAndNothingElse() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.curator.framework.recipes..", "org.apache.curator.x..")
                .orShould()
                .callMethod(org.apache.curator.framework.CuratorFramework.class, "create")
                .orShould()
                .callMethod(org.apache.curator.framework.CuratorFramework.class, "close")
                .orShould()
                .callMethod(org.apache.curator.framework.CuratorFramework.class, "blockUntilConnected")
                .check(CODE);
    }

    @Test
    void decisionsArePure() {
        noClasses()
                .that()
                .haveNameMatching(".*\\.(Standing.*|LockQueue|QueueNode|NodeNames|LockPath|SessionProof|Tombstones.*)")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("reactor..", "org.apache..", "java.util.concurrent..")
                .check(CODE);
    }

    /** The locks of a user of Curator need neither; {@code holdfast-zookeeper-vertx} is for the others. */
    @Test
    void neitherVertxNorNettyIsUsed() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.vertx..", "io.netty..")
                .check(CODE);
    }
}
