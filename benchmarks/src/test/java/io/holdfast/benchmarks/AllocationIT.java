package io.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.testkit.server.RedisServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Bytes that one cycle allocates, in all threads of the JVM: they do not depend on how fast the machine is. */
class AllocationIT {

    private static final int WARM_UP = 2_000;
    private static final int CYCLES = 500;
    private static final int BATCHES = 4;

    /** A fifth more than was measured when this was written, on JDK 17. */
    private static final long BUDGET = 9_000;

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

    /** And below half of Redisson's. */
    @Test
    void uncontendedCycleStaysWithinItsBudgetAndBelowHalfOfRedissons() {
        long ours = perCycle(RedisPeer.HOLDFAST);
        long theirs = perCycle(RedisPeer.REDISSON);
        System.out.printf("[holdfast] bytes per uncontended cycle: %,d, Redisson's %,d%n", ours, theirs);
        assertThat(ours).isBetween(1_000L, BUDGET);
        assertThat((double) ours / theirs).as("of Redisson's").isLessThan(0.5);
    }

    /** The least of several batches: what the compiler and timers do meanwhile only ever adds. */
    private long perCycle(RedisPeer choice) {
        try (Peer peer = choice.open(addresses)) {
            cycles(peer, WARM_UP);
            long least = Long.MAX_VALUE;
            for (int i = 0; i < BATCHES; i++) {
                long before = allocated();
                cycles(peer, CYCLES);
                least = Math.min(least, (allocated() - before) / CYCLES);
            }
            return least;
        }
    }

    private static void cycles(Peer peer, int count) {
        Object unused =
                peer.cycle("orders", Mono.empty()).repeat(count - 1L).then().block(Duration.ofSeconds(60));
    }

    private static long allocated() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadAllocatedBytes(threads.getAllThreadIds()))
                .filter(bytes -> bytes > 0)
                .sum();
    }
}
