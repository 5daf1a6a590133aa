package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ResultFilesTest {

    private static final String JMH = """
            [
                {
                    "jmhVersion" : "1.37",
                    "benchmark" : "io.holdfast.benchmarks.RedisUncontended.cycle",
                    "mode" : "thrpt",
                    "jvm" : "/somewhere/bin/java",
                    "jvmArgs" : [ "-Dport=1" ],
                    "params" : { "inFlight" : "64", "peer" : "HOLDFAST" },
                    "primaryMetric" : {
                        "score" : 41234.5,
                        "scoreError" : "NaN",
                        "scoreUnit" : "ops/s",
                        "rawData" : [ [ 41234.5 ] ]
                    },
                    "secondaryMetrics" : {
                        "gc.alloc.rate" : { "score" : 100.0, "scoreUnit" : "MB/sec" },
                        "gc.alloc.rate.norm" : { "score" : 4321.0, "scoreUnit" : "B/op" }
                    }
                },
                {
                    "benchmark" : "io.holdfast.benchmarks.RedisUncontended.cycle",
                    "params" : { "inFlight" : "64", "peer" : "REDISSON" },
                    "primaryMetric" : { "score" : 7.0 },
                    "secondaryMetrics" : { }
                }
            ]
            """;

    @Test
    void fileOfJmhGivesThroughputAndAllocation() {
        Map<String, String> ours = Map.of("inFlight", "64", "peer", "HOLDFAST");
        Map<String, String> theirs = Map.of("inFlight", "64", "peer", "REDISSON");
        assertThat(ResultFiles.ofJmh(JMH, 3))
                .containsExactly(
                        new Sample("RedisUncontended", ours, Sample.THROUGHPUT, 41234.5, 3),
                        new Sample("RedisUncontended", ours, Sample.ALLOCATION, 4321.0, 3),
                        new Sample("RedisUncontended", theirs, Sample.THROUGHPUT, 7.0, 3));
    }

    @Test
    void placesAreLeftOutAndTheRestStays() {
        String without = ResultFiles.withoutPlaces(JMH);
        assertThat(without).doesNotContain("somewhere", "-Dport").contains("jmhVersion", "rawData");
        assertThat(ResultFiles.ofJmh(without, 3)).isEqualTo(ResultFiles.ofJmh(JMH, 3));
    }

    @Test
    void observationGivesASampleForEachValue() {
        String json = "{\"observation\":\"HandOff\",\"params\":{\"peer\":\"SPRING\"},\"values\":{\"p50 µs\":80.5}}";
        assertThat(ResultFiles.ofObservation(json, 1))
                .containsExactly(new Sample("HandOff", Map.of("peer", "SPRING"), "p50 µs", 80.5, 1));
    }

    @Test
    void whatIsNoResultIsRefused() {
        assertThatThrownBy(() -> ResultFiles.ofJmh("nonsense", 1)).isInstanceOf(IllegalArgumentException.class);
        String noScore = "[{\"benchmark\":\"a.B.c\",\"primaryMetric\":{\"score\":\"NaN\"}}]";
        assertThatThrownBy(() -> ResultFiles.ofJmh(noScore, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no score of B");
        assertThatThrownBy(() -> ResultFiles.ofObservation("{}", 1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void textsComeBackInTheirOrder() {
        Map<String, String> texts = new LinkedHashMap<>();
        texts.put("z", "1 \"quoted\"");
        texts.put("a", "2");
        assertThat(ResultFiles.ofTexts(ResultFiles.toJson(texts))).containsExactlyEntriesOf(texts);
    }
}
