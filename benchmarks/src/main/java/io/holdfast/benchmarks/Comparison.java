package io.holdfast.benchmarks;

import io.holdfast.benchmarks.load.MasterFaults.Health;
import io.holdfast.benchmarks.peer.PeerChoice;
import io.holdfast.benchmarks.peer.PostgresPeer;
import io.holdfast.benchmarks.peer.QuorumPeer;
import io.holdfast.benchmarks.peer.RedisPeer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Peers that take turns at one Redis, at five masters, or at one PostgreSQL. Each peer has one or two processes of its own. The processes stay for all
 * rounds, so each peer warms up once.
 *
 * @param kind the workload
 * @param peers the peers in the order of their turns
 * @param lanes the numbers of lanes, one after the other: locks in flight, or waiters for one lock
 * @param masters the faults of the masters, one after the other
 * @param processes how many processes each peer has; they share the lanes
 */
record Comparison(
        Kind kind, List<? extends PeerChoice> peers, List<Integer> lanes, List<Health> masters, int processes) {

    /** The workloads. */
    enum Kind {
        /** Each lane acquires and releases a lock of its own. */
        UNCONTENDED("RedisUncontended", "inFlight"),
        /** All lanes want one lock. */
        CONTENDED("RedisContended", "waiters"),
        /** Each lane acquires and releases a lock of its own, at five masters. */
        QUORUM("RedlockUncontended", "inFlight"),
        /** All lanes want one lock, at five masters. */
        QUORUM_CONTENDED("RedlockContended", "waiters"),
        /** Each lane acquires and releases a lock of its own, at a PostgreSQL. */
        POSTGRES("PostgresUncontended", "inFlight"),
        /** All lanes want one lock, at a PostgreSQL. */
        POSTGRES_CONTENDED("PostgresContended", "waiters");

        private final String benchmark;
        private final String lanesName;

        Kind(String benchmark, String lanesName) {
            this.benchmark = benchmark;
            this.lanesName = lanesName;
        }
    }

    static Comparison uncontended(List<RedisPeer> peers, Integer... inFlight) {
        return new Comparison(Kind.UNCONTENDED, peers, List.of(inFlight), List.of(Health.HEALTHY), 1);
    }

    static Comparison contended(int processes, List<RedisPeer> peers, Integer... waiters) {
        return new Comparison(Kind.CONTENDED, peers, List.of(waiters), List.of(Health.HEALTHY), processes);
    }

    /** Compares peers at five masters, with each of these faults. */
    static Comparison quorum(List<QuorumPeer> peers, List<Health> masters, Integer... inFlight) {
        return new Comparison(Kind.QUORUM, peers, List.of(inFlight), masters, 1);
    }

    /** Compares peers for one lock at five masters. */
    static Comparison contendedQuorum(List<QuorumPeer> peers, Integer... waiters) {
        return new Comparison(Kind.QUORUM_CONTENDED, peers, List.of(waiters), List.of(Health.HEALTHY), 1);
    }

    /** Compares peers at a PostgreSQL. */
    static Comparison postgres(List<PostgresPeer> peers, Integer... inFlight) {
        return new Comparison(Kind.POSTGRES, peers, List.of(inFlight), List.of(Health.HEALTHY), 1);
    }

    /** Compares peers for one lock at a PostgreSQL. */
    static Comparison contendedPostgres(int processes, List<PostgresPeer> peers, Integer... waiters) {
        return new Comparison(Kind.POSTGRES_CONTENDED, peers, List.of(waiters), List.of(Health.HEALTHY), processes);
    }

    /** Returns its name in reports. */
    String benchmark() {
        return kind.benchmark;
    }

    boolean isOneLock() {
        return kind == Kind.CONTENDED || kind == Kind.QUORUM_CONTENDED || kind == Kind.POSTGRES_CONTENDED;
    }

    /** Only Holdfast runs with a fault: its ratio is to its own cycles without that fault. */
    boolean takesPart(PeerChoice peer, Health health) {
        return health == Health.HEALTHY || peer == QuorumPeer.HOLDFAST;
    }

    boolean isQuorum() {
        return kind == Kind.QUORUM || kind == Kind.QUORUM_CONTENDED;
    }

    boolean isPostgres() {
        return kind == Kind.POSTGRES || kind == Kind.POSTGRES_CONTENDED;
    }

    /** Returns the parameters that identify a sample in reports. */
    Map<String, String> parameters(PeerChoice peer, int count, Health health) {
        Map<String, String> parameters = new TreeMap<>();
        parameters.put("peer", peer.name());
        parameters.put(kind.lanesName, Integer.toString(count));
        if (isOneLock()) {
            parameters.put("processes", Integer.toString(processes));
        }
        if (isQuorum()) {
            parameters.put("masters", health.name());
        }
        return parameters;
    }

    /** Returns the number of lanes of a process; processes count from 0. */
    int share(int count, int process) {
        return count / processes + (process < count % processes ? 1 : 0);
    }
}
