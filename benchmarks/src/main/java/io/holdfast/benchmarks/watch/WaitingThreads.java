package io.holdfast.benchmarks.watch;

import io.holdfast.benchmarks.load.Count;
import io.holdfast.benchmarks.load.Lanes;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.NodeCount;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.ZooKeeperPeer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Counts the threads of many waiters in one process for one lock at ZooKeeper. */
final class WaitingThreads {

    private static final String LOCK = "waiting";
    private static final String WARM_UP = "warm-up";
    private static final int WARM_UP_LANES = 8;
    private static final int WARM_UP_CYCLES = 500;
    private static final long POLL_MILLIS = 10;
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private WaitingThreads() {}

    static Observation watch(Addresses addresses, ZooKeeperPeer choice, int waiters) {
        try (NodeCount nodes = NodeCount.at(addresses.zookeeper());
                Peer peer = choice.open(addresses)) {
            warmUp(peer);
            Sinks.Empty<Void> released = Sinks.empty();
            Count cycles = Count.here();
            int emptyNodes = nodes.now();
            // The first lane holds the lock until the others wait.
            try (Lanes holder = Lanes.start(peer, Lanes.oneName(LOCK, 1), cycles, released.asMono())) {
                await(() -> nodes.now() > emptyNodes, "the holder's node", holder);
                int heldNodes = nodes.now();
                int fewThreads = THREADS.getThreadCount();
                try (Lanes waiting = Lanes.start(peer, Lanes.oneName(LOCK, waiters), cycles, Mono.empty())) {
                    await(() -> nodes.now() >= heldNodes + waiters, "the waiters' nodes", holder, waiting);
                    Map<String, Double> values = new TreeMap<>();
                    values.put("threads more", (double) THREADS.getThreadCount() - fewThreads);
                    waiting.stopSoon();
                    holder.stopSoon();
                    released.tryEmitEmpty().orThrow();
                    return new Observation(
                            "WaitingThreads",
                            Map.of("peer", choice.name(), "waiters", Integer.toString(waiters)),
                            values);
                }
            }
        }
    }

    /** Runs some cycles first: threads that a library starts with its first operations do not count for the waiters. */
    private static void warmUp(Peer peer) {
        Count cycles = Count.here();
        try (Lanes lanes = Lanes.start(peer, Lanes.oneName(WARM_UP, WARM_UP_LANES), cycles, Mono.empty())) {
            await(() -> cycles.value() >= WARM_UP_CYCLES, "the warm-up", lanes);
        }
    }

    private static void await(BooleanSupplier condition, String what, Lanes... all) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            for (Lanes lanes : all) {
                Throwable failure = lanes.failure();
                if (failure != null) {
                    throw new IllegalStateException("a lane has failed", failure);
                }
            }
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("%s took longer than %s".formatted(what, LIMIT));
            }
            Pause.millis(POLL_MILLIS);
        }
    }
}
