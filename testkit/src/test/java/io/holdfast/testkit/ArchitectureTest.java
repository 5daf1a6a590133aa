package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class ArchitectureTest {

    @Test
    void coreAndTestkitFollowTheRules() {
        ArchitectureRules.checkAll(new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.holdfast"));
    }

    @Test
    void rulesFindWhatTheyForbid() {
        var offender = new ClassFileImporter().importClasses(Offender.class);
        assertThatThrownBy(() -> ArchitectureRules.nobodyBlocks().check(offender))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("block");
        var spinner = new ClassFileImporter().importClasses(Spinner.class);
        assertThatThrownBy(() -> ArchitectureRules.nobodyBlocks().check(spinner))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("onSpinWait");
        assertThatThrownBy(() -> ArchitectureRules.nobodyReadsAWallClock().check(offender))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("currentTimeMillis");
        assertThatThrownBy(
                        () -> ArchitectureRules.noDefaultSchedulerIn(Set.of()).check(offender))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Schedulers");
    }

    @SuppressWarnings("unused")
    private static final class Spinner {
        void spin() {
            Thread.onSpinWait();
        }
    }

    @SuppressWarnings("unused")
    private static final class Offender {
        private final long time = System.currentTimeMillis();
        private final Object blocked =
                Mono.just(1).subscribeOn(Schedulers.parallel()).block();
    }
}
