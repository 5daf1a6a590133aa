package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.lang.management.ThreadInfo;
import java.util.List;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;

/** Bytes that one cycle at ZooKeeper allocates in the threads of the client; the server is in the same JVM. */
class ZooKeeperAllocationIT {

    /** A fifth more than was measured when this was written, on JDK 17. Before requests were one object each, it was 22,000. */
    private static final long BUDGET = 17_000;

    private final Thread subscriber = Thread.currentThread();

    @Test
    void uncontendedCycleStaysWithinItsBudget() throws Exception {
        try (TestingServer server = new TestingServer(true)) {
            Addresses addresses = new Addresses("", List.of(), List.of(), server.getConnectString());
            long ours = perCycle(ZooKeeperPeer.HOLDFAST, addresses);
            long theirs = perCycle(ZooKeeperPeer.CURATOR, addresses);
            System.out.printf("[holdfast] ZooKeeper: bytes per uncontended cycle: %,d, Curator's %,d%n", ours, theirs);
            assertThat(ours).isBetween(5_000L, BUDGET);
        }
    }

    private long perCycle(ZooKeeperPeer choice, Addresses addresses) {
        try (Peer peer = choice.open(addresses)) {
            return Allocation.perCycle(peer, this::isClients);
        }
    }

    private boolean isClients(ThreadInfo thread) {
        String name = thread.getThreadName();
        return name.equals(subscriber.getName())
                || name.contains("-SendThread")
                || name.contains("-EventThread")
                || name.startsWith("parallel-");
    }
}
