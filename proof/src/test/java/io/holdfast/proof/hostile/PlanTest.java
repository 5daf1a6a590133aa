package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.hostile.Plan.Planned;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlanTest {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration GAP = Duration.ofSeconds(1);
    private static final List<FaultKind> KINDS =
            List.of(FaultKind.CLIENT_KILLED, FaultKind.CLIENT_FROZEN, FaultKind.CONNECTIONS_RESET);

    private static List<Planned> first(long seed, int count) {
        Plan plan = new Plan(seed, KINDS, LEASE, GAP);
        return Stream.generate(plan::next).limit(count).toList();
    }

    @Test
    void theSeedDecidesAll() {
        assertThat(first(7, 100)).isEqualTo(first(7, 100)).isNotEqualTo(first(8, 100));
    }

    @Test
    void eachKindComesOnceInEachRound() {
        List<Planned> plan = first(1, 30);
        for (int i = 0; i < plan.size(); i += KINDS.size()) {
            assertThat(plan.subList(i, i + KINDS.size()))
                    .extracting(Planned::kind)
                    .containsExactlyInAnyOrderElementsOf(KINDS);
        }
    }

    @Test
    void timesAreWithinTheBoundsOfTheKind() {
        assertThat(first(3, 1_000)).allSatisfy(next -> {
            assertThat(next.gap()).isBetween(GAP.dividedBy(10), GAP);
            double leases = (double) next.time().toNanos() / LEASE.toNanos();
            assertThat(leases)
                    .isBetween(next.kind().shortest() - 1e-9, next.kind().longest());
            assertThat(next.choice()).isNotNegative();
        });
    }
}
