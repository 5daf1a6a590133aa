package io.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.benchmarks.load.MasterFaults.Health;
import io.holdfast.benchmarks.peer.PeerChoice;
import io.holdfast.benchmarks.peer.PostgresPeer;
import io.holdfast.benchmarks.peer.QuorumPeer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ContenderTest {

    private static final Map<String, PeerChoice[]> PEERS = Map.of(
            "RedisUncontended", RedisPeer.values(),
            "RedlockContended", QuorumPeer.values(),
            "ZooKeeperContended", ZooKeeperPeer.values(),
            "PostgresUncontended", PostgresPeer.values());

    @Test
    void eachWayToLockHasANameForUsers() {
        PEERS.forEach((benchmark, peers) -> {
            List<String> titles = Arrays.stream(peers)
                    .map(it -> Contender.of(benchmark, it.name()).title())
                    .toList();
            assertThat(titles)
                    .as(benchmark)
                    .doesNotHaveDuplicates()
                    .contains("Holdfast")
                    .noneMatch(it -> it.contains("_"));
        });
    }

    @Test
    void aNameOfTheResultsMayMeanSomethingElseAtAnotherStore() {
        assertThat(Contender.of("RedisContended", "SPRING").title()).isEqualTo("Spring Integration");
        assertThat(Contender.of("PostgresContended", "SPRING").title()).isEqualTo("Spring Integration, JDBC");
        assertThatThrownBy(() -> Contender.of("RedisContended", "CURATOR"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("add a name for users: 'CURATOR' at Redis has none");
    }

    @Test
    void eachHealthOfTheMastersHasWords() {
        assertThat(Health.values())
                .extracting(it -> Words.health(it.name()))
                .doesNotHaveDuplicates()
                .noneMatch(it -> it.contains("_"));
    }
}
