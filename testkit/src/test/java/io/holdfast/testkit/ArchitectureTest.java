package io.holdfast.testkit;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.conditions.ArchConditions;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
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

    /** From top to bottom: a room of core's engine may use those below it, and none beside it or above. */
    private static final List<List<String>> FLOORS = List.of(
            List.of("client"),
            List.of("guard", "multi"),
            List.of("claim"),
            List.of("engine", "tenure", "memory"),
            List.of("timing"));

    @Test
    void roomsOfCoreUseThoseBelowThemOnly() {
        LayeredArchitecture house = layeredArchitecture().consideringOnlyDependenciesInLayers();
        List<String> below = new ArrayList<>();
        for (int floor = FLOORS.size() - 1; floor >= 0; floor--) {
            for (String room : FLOORS.get(floor)) {
                house = house.layer(room).definedBy("io.holdfast.internal." + room);
                house = below.isEmpty()
                        ? house.whereLayer(room).mayNotAccessAnyLayer()
                        : house.whereLayer(room).mayOnlyAccessLayers(below.toArray(String[]::new));
            }
            below.addAll(FLOORS.get(floor));
        }
        JavaClasses rooms = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.holdfast.internal");

        house.check(rooms);
        classes().should(resideInRoom(below)).check(rooms);
    }

    private static ArchCondition<JavaClass> resideInRoom(List<String> rooms) {
        return ArchConditions.resideInAnyPackage(
                Stream.concat(Stream.of(""), rooms.stream().map(room -> "." + room))
                        .map(room -> "io.holdfast.internal" + room)
                        .toArray(String[]::new));
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
