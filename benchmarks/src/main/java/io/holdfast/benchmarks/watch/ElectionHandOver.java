package io.holdfast.benchmarks.watch;

import io.holdfast.benchmarks.peer.Addresses;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Measures the time from the end of a leader until another candidate leads, each in a process of its own. The other candidate has been waiting for a
 * while when the leader ends: the start of its process does not count.
 */
final class ElectionHandOver {

    /** How a leader ends. */
    enum End {
        RESIGNS,
        IS_KILLED
    }

    /** How long each candidate leads while the other one waits. */
    private static final long TERM_MILLIS = 1_500;

    private ElectionHandOver() {}

    static Observation watch(Addresses addresses, Candidate.Store store, End end, int leaseMillis, int terms) {
        List<Double> took = new ArrayList<>();
        Candidate leader = Candidate.start(addresses, store, leaseMillis);
        try {
            leader.awaitLead();
            for (int term = 0; term < terms; term++) {
                Candidate next = Candidate.start(addresses, store, leaseMillis);
                Pause.millis(TERM_MILLIS);
                long begin = System.nanoTime();
                if (end == End.RESIGNS) {
                    leader.resign();
                } else {
                    leader.kill();
                }
                Candidate before = leader;
                leader = next;
                next.awaitLead();
                took.add((System.nanoTime() - begin) / (double) TimeUnit.MILLISECONDS.toNanos(1));
                before.close();
            }
        } finally {
            leader.close();
        }
        took.sort(Double::compare);
        Map<String, Double> values = new TreeMap<>();
        values.put("min ms", took.get(0));
        values.put("p50 ms", took.get(took.size() / 2));
        values.put("max ms", took.get(took.size() - 1));
        values.put("terms", (double) terms);
        return new Observation(
                "ElectionHandOver",
                Map.of("store", store.name(), "leader", end.name(), "lease ms", Integer.toString(leaseMillis)),
                values);
    }
}
