package io.holdfast.zookeeper;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import io.holdfast.testkit.ArchitectureRules;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    /** A package uses the packages in later lists, but none in its own list or in earlier ones. */
    private static final List<List<String>> LAYERS = List.of(
            List.of("operation"),
            List.of("claim", "inspect"),
            List.of("connection", "queue", "signal"),
            List.of("client"),
            List.of("session"));

    private static final String INTERNAL = "io.holdfast.zookeeper.internal.";

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.zookeeper");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void packagesUseOnlyThoseBelowThem() {
        LayeredArchitecture layers = layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .ensureAllClassesAreContainedInArchitecture()
                .layer("public")
                .definedBy("io.holdfast.zookeeper")
                .whereLayer("public")
                .mayNotBeAccessedByAnyLayer();
        List<String> below = new ArrayList<>();
        for (int i = LAYERS.size() - 1; i >= 0; i--) {
            for (String name : LAYERS.get(i)) {
                layers = layers.layer(name).definedBy(INTERNAL + name);
                layers = below.isEmpty()
                        ? layers.whereLayer(name).mayNotAccessAnyLayer()
                        : layers.whereLayer(name).mayOnlyAccessLayers(below.toArray(String[]::new));
            }
            below.addAll(LAYERS.get(i));
        }

        layers.check(CODE);
    }

    @Test
    void onlyTheBackendIsForUsers() {
        classes()
                .that()
                .arePublic()
                .and()
                .resideInAPackage("io.holdfast.zookeeper")
                .should()
                .be(ZooKeeperLockBackend.class)
                .orShould()
                .be(ZooKeeperLockBackend.Builder.class)
                .check(CODE);
    }

    /** Curator's recipes block a thread for each waiter, and its background calls block on the way. */
    @Test
    void curatorProvidesOnlyTheSession() {
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
                .resideInAPackage(INTERNAL + "queue")
                .or()
                .haveNameMatching(".*\\.(SessionValidity|PendingOperations|RecheckInterval)")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("reactor..", "org.apache..", "java.util.concurrent..", INTERNAL + "client")
                .check(CODE);
    }

    /** Users of Curator need neither of them for locks; {@code holdfast-zookeeper-vertx} is for users of Vert.x. */
    @Test
    void neitherVertxNorNettyIsUsed() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.vertx..", "io.netty..")
                .check(CODE);
    }
}
