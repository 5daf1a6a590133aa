package io.holdfast.proof.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The proof of the proof: what could have been got wrong is caught by the checker, within the stated number of schedules. A
 * campaign that found nothing would otherwise show nothing.
 */
class MutantsIT {

    static Stream<Hunt> hunts() {
        return Stream.of(
                        Mutants.ofMemory(),
                        Mutants.ofRedis(),
                        Mutants.ofCluster(),
                        Mutants.ofRedlock(),
                        Mutants.ofZooKeeper(),
                        Mutants.ofHandOver())
                .flatMap(hunts -> hunts.stream());
    }

    @ParameterizedTest
    @MethodSource("hunts")
    void isCaughtWithinTheStatedNumberOfSchedules(Hunt hunt) {
        Optional<Schedule.Result> caught = hunt.run();
        assertThat(caught)
                .as(
                        "'%s' on %s within %d schedules from seed %d on",
                        hunt.mutant(), hunt.kind(), hunt.most(), hunt.firstSeed())
                .isPresent();
    }
}
