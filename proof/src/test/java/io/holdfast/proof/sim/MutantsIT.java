package io.holdfast.proof.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the checker: it catches each mutant within the stated number of schedules. Otherwise a campaign without findings would prove nothing.
 * {@code -Dproof.store=REDIS} runs the mutants of one store, {@code -Dproof.seed=N} begins with that seed.
 */
class MutantsIT {

    static Stream<Hunt> hunts() {
        return Stream.of(
                        Mutants.ofMemory(),
                        Mutants.ofRedis(),
                        Mutants.ofCluster(),
                        Mutants.ofRedlock(),
                        Mutants.ofZooKeeper(),
                        Mutants.ofPostgresql(),
                        Mutants.ofEtcd(),
                        Mutants.ofHandOver())
                .flatMap(hunts -> hunts.stream())
                .filter(hunt -> System.getProperty("proof.store", hunt.kind().name())
                        .equals(hunt.kind().name()))
                .map(hunt -> new Hunt(
                        hunt.kind(), hunt.mutant(), Long.getLong("proof.seed", hunt.firstSeed()), hunt.most()));
    }

    @ParameterizedTest
    @MethodSource("hunts")
    void mutantIsCaughtWithinTheStatedNumberOfSchedules(Hunt hunt) {
        Optional<Schedule.Result> caught = hunt.run();
        caught.ifPresent(result -> System.out.println(
                hunt + ": seed " + result.seed() + ", " + result.violations().get(0)));
        assertThat(caught)
                .as(
                        "'%s' on %s within %d schedules from seed %d on",
                        hunt.mutant(), hunt.kind(), hunt.most(), hunt.firstSeed())
                .isPresent();
    }
}
