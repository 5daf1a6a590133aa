package io.holdfast.benchmarks;

import io.holdfast.benchmarks.peer.RedisPeer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Peers that take turns at one Redis, each in a process of its own, or in two. The processes stay for all rounds, so each peer warms up
 * once.
 *
 * @param kind of the workload
 * @param peers in the order of their turns
 * @param lanes how many, one after the other: locks in flight, or waiters for one lock
 * @param processes of each peer, which share the lanes
 */
record Comparison(Kind kind, List<RedisPeer> peers, List<Integer> lanes, int processes) {

    /** What all lanes do. */
    enum Kind {
        /** Each lane acquires and releases a lock of its own. */
        UNCONTENDED("RedisUncontended", "inFlight"),
        /** All lanes want one lock. */
        CONTENDED("RedisContended", "waiters");

        private final String benchmark;
        private final String lanesName;

        Kind(String benchmark, String lanesName) {
            this.benchmark = benchmark;
            this.lanesName = lanesName;
        }
    }

    static Comparison uncontended(List<RedisPeer> peers, Integer... inFlight) {
        return new Comparison(Kind.UNCONTENDED, peers, List.of(inFlight), 1);
    }

    static Comparison contended(int processes, List<RedisPeer> peers, Integer... waiters) {
        return new Comparison(Kind.CONTENDED, peers, List.of(waiters), processes);
    }

    /** As reports call it. */
    String benchmark() {
        return kind.benchmark;
    }

    boolean isOneLock() {
        return kind == Kind.CONTENDED;
    }

    /** As reports tell a sample from others. */
    Map<String, String> parameters(RedisPeer peer, int count) {
        Map<String, String> parameters = new TreeMap<>();
        parameters.put("peer", peer.name());
        parameters.put(kind.lanesName, Integer.toString(count));
        if (isOneLock()) {
            parameters.put("processes", Integer.toString(processes));
        }
        return parameters;
    }

    /** How many lanes the process with this number has, counted from 0. */
    int share(int count, int process) {
        return count / processes + (process < count % processes ? 1 : 0);
    }
}
