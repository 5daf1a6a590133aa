package io.holdfast.benchmarks;

import com.sun.management.ThreadMXBean;
import io.holdfast.benchmarks.peer.Peer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Predicate;
import reactor.core.publisher.Mono;

/** Counts the bytes that a cycle of one lock allocates. */
final class Allocation {

    private static final int WARM_UP = 2_000;
    private static final int CYCLES = 500;
    private static final int BATCHES = 4;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private Allocation() {}

    /**
     * The least of several batches: what the compiler and timers do meanwhile only ever adds.
     *
     * @param counted the threads whose bytes count
     */
    static long perCycle(Peer peer, Predicate<ThreadInfo> counted) {
        cycles(peer, WARM_UP);
        long least = Long.MAX_VALUE;
        for (int i = 0; i < BATCHES; i++) {
            long before = bytes(counted);
            cycles(peer, CYCLES);
            least = Math.min(least, (bytes(counted) - before) / CYCLES);
        }
        return least;
    }

    private static void cycles(Peer peer, int count) {
        Object unused =
                peer.cycle("orders", Mono.empty()).repeat(count - 1L).then().block(Duration.ofSeconds(60));
    }

    private static long bytes(Predicate<ThreadInfo> counted) {
        long[] ids = Arrays.stream(THREADS.getThreadInfo(THREADS.getAllThreadIds()))
                .filter(Objects::nonNull)
                .filter(counted)
                .mapToLong(ThreadInfo::getThreadId)
                .toArray();
        return Arrays.stream(THREADS.getThreadAllocatedBytes(ids))
                .filter(bytes -> bytes > 0)
                .sum();
    }
}
