package io.holdfast.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.holdfast.testkit.ArchitectureRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses CODE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.spring");

    @Test
    void moduleKeepsTheRules() {
        ArchitectureRules.checkAll(CODE);
    }

    @Test
    void onlyWhatAnApplicationNamesIsPublic() {
        classes()
                .that()
                .arePublic()
                .should()
                .be(HoldfastAutoConfiguration.class)
                .orShould()
                .be(HoldfastEndpointAutoConfiguration.class)
                .orShould()
                .be(HoldfastHealthAutoConfiguration.class)
                .orShould()
                // By its name: the classes of Spring Boot 3 are not here.
                .haveFullyQualifiedName("io.holdfast.spring.HoldfastHealthOfSpringBoot3AutoConfiguration")
                .orShould()
                .be(HoldfastLockedAutoConfiguration.class)
                .orShould()
                .be(HoldfastMicrometerAutoConfiguration.class)
                .orShould()
                .be(LockClientCustomizer.class)
                .orShould()
                .be(RedisLockBackendCustomizer.class)
                .orShould()
                .be(RedlockBackendCustomizer.class)
                .orShould()
                .be(ZooKeeperLockBackendCustomizer.class)
                .orShould()
                .be(EtcdLockBackendCustomizer.class)
                .orShould()
                .be(R2dbcLockBackendCustomizer.class)
                .orShould()
                .be(RedisLockConnectionDetails.class)
                .orShould()
                .be(RedlockConnectionDetails.class)
                .orShould()
                .be(ZooKeeperLockConnectionDetails.class)
                .orShould()
                .be(EtcdLockConnectionDetails.class)
                .orShould()
                .be(Locked.class)
                .orShould()
                .be(Locked.Kind.class)
                .orShould()
                .be(LockedLease.class)
                .check(CODE);
    }
}
