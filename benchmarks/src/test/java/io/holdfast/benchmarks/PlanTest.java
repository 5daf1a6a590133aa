package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.Plan.Series;
import io.holdfast.benchmarks.load.MasterFaults.Health;
import io.holdfast.benchmarks.peer.QuorumPeer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlanTest {

    /** A fork takes about two and a half seconds beside what it measures, an observation about five, and one of many leases forty. */
    @Test
    void quickPlanFitsIntoTenMinutes() {
        Plan quick = Plan.quick();
        int forks = quick.series().stream().mapToInt(Series::size).sum();
        double seconds = quick.rounds() * forks * (2.5 + quick.warmUpSeconds() + quick.seconds())
                + quick.rounds() * quick.watches().size() * 5
                + (quick.once().size() - 1) * 5
                + 40;
        assertThat(seconds).isLessThan(570);
    }

    @Test
    void whatIsPlannedExists() {
        Map<String, List<? extends Enum<?>>> peers = Map.of(
                "Redis", List.of(RedisPeer.values()),
                "Redlock", List.of(QuorumPeer.values()),
                "ZooKeeper", List.of(ZooKeeperPeer.values()));
        for (Plan plan : List.of(Plan.quick(), Plan.contended(), Plan.all())) {
            for (Series series : plan.series()) {
                String store = series.benchmark().replaceAll("Uncontended|Contended", "");
                assertThat(peers.get(store))
                        .extracting(Enum::name)
                        .containsAll(series.parameters().get("peer"));
                assertThat(List.of(Health.values()))
                        .extracting(Enum::name)
                        .containsAll(series.parameters().getOrDefault("masters", List.of()));
                assertThat(classNamed(series.benchmark())).isNotNull();
            }
        }
    }

    private static Class<?> classNamed(String benchmark) {
        try {
            return Class.forName(PlanTest.class.getPackageName() + "." + benchmark);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void onlyAPartKeepsThatPart() {
        Plan part = Plan.all().only("ZooKeeper");
        assertThat(part.series()).isNotEmpty().allMatch(it -> it.benchmark().startsWith("ZooKeeper"));
        assertThat(part.watchesOf(1)).isEmpty();
    }
}
