package io.holdfast.benchmarks.watch;

import io.holdfast.benchmarks.load.Count;
import io.holdfast.benchmarks.load.Lanes;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.RedisPeer;
import io.holdfast.benchmarks.watch.Monitor.Seen;
import java.util.Map;
import java.util.TreeMap;
import reactor.core.publisher.Mono;

/** Measures the cost of one cycle at the server: a hand-off with one waiter of each of two clients, or uncontended with a single client. */
final class Commands {

    private static final int WARM_UP = 200;
    private static final int CYCLES = 1_000;
    private static final long POLL_MILLIS = 1;

    private Commands() {}

    static Observation watch(Addresses addresses, RedisPeer choice, int waiters) {
        try (Peer one = choice.open(addresses);
                Peer other = choice.open(addresses)) {
            Count count = Count.here();
            try (Lanes ofOne = lanes(one, waiters - waiters / 2, count);
                    Lanes ofOther = lanes(other, waiters / 2, count)) {
                awaitCycles(count, WARM_UP, ofOne, ofOther);
                long before;
                long after;
                Seen seen;
                try (Monitor monitor = Monitor.of(addresses.redis())) {
                    before = count.value();
                    awaitCycles(count, CYCLES, ofOne, ofOther);
                    seen = monitor.stop();
                    after = count.value();
                }
                return observation(choice, waiters, seen, after - before);
            }
        }
    }

    private static Lanes lanes(Peer peer, int lanes, Count count) {
        return Lanes.start(peer, Lanes.oneName("commands", lanes), count, Mono.empty());
    }

    private static void awaitCycles(Count count, int more, Lanes... all) {
        long target = count.value() + more;
        while (count.value() < target) {
            for (Lanes lanes : all) {
                Throwable failure = lanes.failure();
                if (failure != null) {
                    throw new IllegalStateException("a lane has failed", failure);
                }
            }
            Pause.millis(POLL_MILLIS);
        }
    }

    private static Observation observation(RedisPeer choice, int waiters, Seen seen, long cycles) {
        Map<String, Double> values = new TreeMap<>();
        values.put("on the wire", (double) seen.total() / cycles);
        values.put("in scripts", (double) seen.inScripts() / cycles);
        seen.onTheWire().forEach((command, times) -> values.put("of these " + command, (double) times / cycles));
        return new Observation("Commands", Map.of("peer", choice.name(), "waiters", Integer.toString(waiters)), values);
    }
}
