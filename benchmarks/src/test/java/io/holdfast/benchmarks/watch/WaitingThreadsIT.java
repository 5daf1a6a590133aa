package io.holdfast.benchmarks.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.util.List;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;

/** How many threads the waiters of one process need. The server is in the same JVM, and may start a thread of its own meanwhile. */
class WaitingThreadsIT {

    @Test
    void waitersNeedNoThreadAndThoseOfCuratorOneEach() throws Exception {
        try (TestingServer server = new TestingServer(true)) {
            Addresses addresses = new Addresses("", List.of(), List.of(), server.getConnectString());
            double ours = threads(addresses, ZooKeeperPeer.HOLDFAST, 1_000);
            double theirs = threads(addresses, ZooKeeperPeer.CURATOR, 50);
            assertThat(ours).isLessThanOrEqualTo(3);
            assertThat(theirs).isBetween(50.0, 53.0);
        }
    }

    private static double threads(Addresses addresses, ZooKeeperPeer peer, int waiters) {
        return WaitingThreads.watch(addresses, peer, waiters).values().get("threads more");
    }
}
