package io.holdfast.redis.internal.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Calls that wait for the map of slots. The test answers the requests for it. */
class ClusterTopologyTest {

    private final ManualDriver driver = new ManualDriver();
    private final ClusterTopology topology =
            new ClusterTopology(driver, List.of(RedisURI.create("redis://10.0.0.9:7000")));

    @Test
    void callsDoNotWaitForARequestThatHangsWhileALaterOneIsAnswered() {
        CompletableFuture<CommandLink> first = topology.linkFor("a");
        driver.pass(Duration.ofSeconds(2));
        CompletableFuture<CommandLink> sameSlot = topology.linkFor("a");
        CompletableFuture<CommandLink> otherSlot = topology.linkFor("b");
        assertThat(driver.sent).hasSize(2);
        answer(1);
        assertThat(List.of(first, sameSlot, otherSlot)).allMatch(CompletableFuture::isDone);
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

    @SuppressWarnings("unchecked") // a command of the driver is the future of its answer
    private void answer(int request) {
        CompletableFuture<List<Object>> slots = (CompletableFuture<List<Object>>) (Object) driver.sent.get(request);
        assertThat(slots.complete(List.of(List.of(0L, 16_383L, List.of("10.0.0.1", 7001L)))))
                .isTrue();
    }
}
