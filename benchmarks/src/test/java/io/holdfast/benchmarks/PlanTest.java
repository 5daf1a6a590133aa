package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.Plan.Series;
import io.holdfast.benchmarks.load.MasterFaults.Health;
import io.holdfast.benchmarks.peer.PeerChoice;
import io.holdfast.benchmarks.peer.QuorumPeer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import io.holdfast.benchmarks.report.Goals;
import io.holdfast.benchmarks.report.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlanTest {

    private static final List<String> METRICS =
            List.of(Sample.THROUGHPUT, Sample.SERVER_CPU, Sample.ALLOCATION, Sample.LEAST_SHARE, Sample.LONGEST_PAUSE);

    /**
     * On two cores. A process starts in one to two and a half seconds, a turn takes 0.7 seconds beside what it measures, and many held
     * leases take ten.
     */
    private static double secondsOf(Plan plan) {
        double seconds = 5;
        for (Comparison comparison : plan.comparisons()) {
            int peers = comparison.peers().size();
            seconds += peers * (1.5 * comparison.processes() + plan.warmUpSeconds());
            seconds += plan.rounds()
                    * peers
                    * comparison.lanes().size()
                    * comparison.masters().size()
                    * (0.7 + plan.seconds());
        }
        int forks = plan.series().stream().mapToInt(Series::size).sum();
        seconds += plan.rounds() * forks * (2.5 + plan.warmUpSeconds() + plan.seconds());
        for (int round = 1; round <= plan.rounds(); round++) {
            seconds += plan.watchesOf(round).stream()
                    .mapToDouble(it -> secondsOf(plan, it))
                    .sum();
        }
        return seconds;
    }

    private static double secondsOf(Plan plan, List<String> watch) {
        int last = Integer.parseInt(watch.get(watch.size() - 1));
        return switch (watch.get(0)) {
            case "HandOff" -> 4 + plan.warmUpSeconds() + last;
            case "DatabaseCosts" -> 15;
            case "HeldLeases" -> 10 + plan.warmUpSeconds() + last;
            case "ElectionHandOver" -> last * (watch.contains("IS_KILLED") ? 7 : 3);
            default -> 4;
        };
    }

    @Test
    void plansTakeNoLongerThanDocumented() {
        assertThat(secondsOf(Plan.redis())).isLessThan(4 * 60);
        assertThat(secondsOf(Plan.redlock())).isLessThan(4 * 60);
        assertThat(secondsOf(Plan.handOver())).isLessThan(4 * 60);
        assertThat(secondsOf(Plan.waiting())).isLessThan(40);
        assertThat(secondsOf(Plan.election())).isLessThan(4 * 60);
        assertThat(secondsOf(Plan.zookeeper())).isLessThan(10 * 60);
        assertThat(secondsOf(Plan.postgres())).isLessThan(7 * 60);
        assertThat(secondsOf(Plan.quick())).isLessThan(15 * 60);
        assertThat(secondsOf(Plan.contended())).isLessThan(8 * 60);
    }

    @Test
    void eachProcessWarmsUpForTenSeconds() {
        assertThat(List.of(
                        Plan.redis(),
                        Plan.redlock(),
                        Plan.zookeeper(),
                        Plan.postgres(),
                        Plan.handOver(),
                        Plan.waiting(),
                        Plan.election(),
                        Plan.quick(),
                        Plan.contended(),
                        Plan.all()))
                .allMatch(it -> it.warmUpSeconds() >= 10);
    }

    private static List<Sample> samplesOf(Plan plan) {
        List<Sample> samples = new ArrayList<>();
        for (Comparison comparison : plan.comparisons()) {
            for (int lanes : comparison.lanes()) {
                for (PeerChoice peer : comparison.peers()) {
                    for (Health masters : comparison.masters()) {
                        if (!comparison.takesPart(peer, masters)) {
                            continue;
                        }
                        for (String metric : METRICS) {
                            Map<String, String> parameters = comparison.parameters(peer, lanes, masters);
                            samples.add(new Sample(comparison.benchmark(), parameters, metric, 1, 1));
                        }
                    }
                }
            }
        }
        return samples;
    }

    @Test
    void redisPlanMeasuresAllThatTheGoalsOfRedisAreAbout() {
        List<Sample> samples = samplesOf(Plan.redis());
        assertThat(Goals.ofRedis())
                .filteredOn(it -> it.judge(samples).isEmpty())
                .extracting(it -> it.above().benchmark())
                .containsExactlyElementsOf(
                        Plan.redis().once().stream().map(it -> it.get(0)).toList());
    }

    @Test
    void redlockPlanMeasuresAllThatTheGoalsOfRedlockAreAbout() {
        List<Sample> samples = samplesOf(Plan.redlock());
        assertThat(Goals.ofRedlock()).allMatch(it -> it.judge(samples).isPresent());
    }

    @Test
    void handOverPlanMeasuresAllThatItsGoalsAreAbout() {
        List<Sample> samples = samplesOf(Plan.handOver());
        assertThat(Goals.ofHandOver()).allMatch(it -> it.judge(samples).isPresent());
    }

    @Test
    void processesShareTheLanesOfAComparison() {
        Comparison comparison = Comparison.contended(2, List.of(RedisPeer.HOLDFAST), 11);
        assertThat(List.of(comparison.share(11, 0), comparison.share(11, 1))).containsExactly(6, 5);
    }

    @Test
    void plannedBenchmarksExist() {
        Map<String, List<? extends Enum<?>>> peers = Map.of(
                "Redlock", List.of(QuorumPeer.values()),
                "ZooKeeper", List.of(ZooKeeperPeer.values()));
        for (Plan plan : List.of(Plan.quick(), Plan.contended(), Plan.all())) {
            for (Series series : plan.series()) {
                String store = series.benchmark().replaceAll("Uncontended|Contended|FreshNames", "");
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
    void aPlanOfAPartKeepsThatPart() {
        Plan part = Plan.all().only("ZooKeeper");
        assertThat(part.comparisons()).isEmpty();
        assertThat(part.series()).isNotEmpty().allMatch(it -> it.benchmark().startsWith("ZooKeeper"));
        assertThat(part.watchesOf(1)).isEmpty();
        assertThat(Plan.all().only("RedisContended").comparisons()).isNotEmpty().allMatch(Comparison::isOneLock);
    }
}
