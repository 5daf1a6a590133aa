package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.testkit.server.RedisServer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The bytes that one cycle allocates in all threads of the JVM. They do not depend on the speed of the machine. */
class AllocationIT {

    /** A fifth more than the measurement on JDK 17. */
    private static final long BUDGET = 4_700;

    private RedisServer server;
    private Addresses addresses;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        addresses = new Addresses(server.uri(), List.of(), List.of(), "");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    /** The budget is also below half of Redisson's bytes. */
    @Test
    void uncontendedCycleStaysWithinItsBudgetAndBelowHalfOfRedissons() {
        long ours = perCycle(RedisPeer.HOLDFAST);
        long theirs = perCycle(RedisPeer.REDISSON);
        System.out.printf("[holdfast] bytes per uncontended cycle: %,d, Redisson's %,d%n", ours, theirs);
        assertThat(ours).isBetween(1_000L, BUDGET);
        assertThat((double) ours / theirs).as("of Redisson's").isLessThan(0.5);
    }

    private long perCycle(RedisPeer choice) {
        try (Peer peer = choice.open(addresses)) {
            return Allocation.perCycle(peer, thread -> true);
        }
    }
}
