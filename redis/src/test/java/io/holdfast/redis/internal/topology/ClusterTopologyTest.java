package io.holdfast.redis.internal.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Calls that wait for the map of slots. The test answers the requests for it. */
class ClusterTopologyTest {

    private final ManualDriver driver = new ManualDriver();
    private final ClusterTopology topology =
            new ClusterTopology(driver, List.of(RedisURI.create("redis://10.0.0.9:7000")));

    @Test
    void callsDoNotWaitForARequestThatHangsWhileALaterOneIsAnswered() {
        CompletableFuture<CommandLink> first = topology.linkFor("a");
        CompletableFuture<CommandLink> any = topology.anyLink();
        driver.pass(Duration.ofSeconds(2));
        CompletableFuture<CommandLink> sameSlot = topology.linkFor("a");
        CompletableFuture<CommandLink> otherSlot = topology.linkFor("b");
        assertThat(driver.sent).hasSize(2);
        answer(1);
        assertThat(List.of(first, any, sameSlot, otherSlot)).allMatch(CompletableFuture::isDone);
    }

    /** A firewall, for example, has forgotten the only connection before the first answer. */
    @Test
    void aSeedThatDoesNotAnswerGetsAnotherConnection() {
        CompletableFuture<CommandLink> first = topology.linkFor("a");
        driver.pass(Duration.ofSeconds(6));
        CompletableFuture<CommandLink> second = topology.linkFor("a");
        assertThat(driver.servers).hasSize(2);
        answer(1);
        assertThat(List.of(first, second)).allMatch(CompletableFuture::isDone);
    }

    @Test
    void aListenerThatThrowsKeepsNoCallFromTheMap() {
        topology.listener(new TopologyListener() {
            @Override
            public void moved() {
                throw new IllegalStateException("on purpose");
            }

            @Override
            public boolean isWaitedAt(RedisURI server) {
                return false;
            }
        });
        CompletableFuture<CommandLink> one = topology.linkFor("a");
        CompletableFuture<CommandLink> any = topology.anyLink();
        answer(0);
        assertThat(List.of(one, any)).allMatch(CompletableFuture::isDone);
    }

    @Test
    void aClientWithoutAMapAsksAllItsSeedsInTurn() {
        List<RedisURI> seeds =
                IntStream.range(0, 6).mapToObj(i -> server("10.0.0.2" + i)).toList();
        ClusterTopology cold = new ClusterTopology(driver, seeds);
        for (int round = 0; round < 3; round++) {
            CompletableFuture<CommandLink> unused = cold.linkFor("a");
            driver.pass(Duration.ofSeconds(2));
        }
        assertThat(driver.sent).hasSize(12);
        assertThat(hosts())
                .containsExactlyInAnyOrderElementsOf(
                        seeds.stream().map(RedisURI::getHost).toList());
    }

    /** All servers may come back with other addresses, which only the names of the seeds lead to. */
    @Test
    void aClientThatKnowsManyMastersAsksASeedToo() {
        CompletableFuture<CommandLink> one = topology.linkFor("a");
        complete(
                0,
                IntStream.range(0, 8)
                        .mapToObj(i -> List.<Object>of(2048L * i, 2048L * i + 2047, List.of("10.0.0.3" + i, 7001L)))
                        .toList());
        assertThat(one).isCompleted();
        driver.pass(Duration.ofSeconds(20)); // the link to the seed is closed
        driver.servers.clear();
        CompletableFuture<List<CommandLink>> unused = topology.allLinks();
        assertThat(hosts()).hasSize(4).contains("10.0.0.9");
    }

    private List<String> hosts() {
        return driver.servers.stream().map(RedisURI::getHost).toList();
    }

    private static RedisURI server(String host) {
        return RedisURI.create("redis://" + host + ":7000");
    }

    @SuppressWarnings("unchecked") // a command of the driver is the future of its answer
    private void complete(int request, List<?> ranges) {
        CompletableFuture<Object> slots = (CompletableFuture<Object>) (Object) driver.sent.get(request);
        assertThat(slots.complete(ranges)).isTrue();
    }

    private void answer(int request) {
        complete(request, List.of(List.of(0L, 16_383L, List.of("10.0.0.1", 7001L))));
    }
}
