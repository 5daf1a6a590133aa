package io.holdfast.proof.hostile;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The servers of one back end, and the faults that they can suffer. The methods block. */
interface Deployment extends AutoCloseable {

    /** Returns the address for a client: through its own wires, if there are wires. */
    Address addressOf(int client);

    /** Returns the address without wires. */
    Address direct();

    /** Returns the faults of servers and wires. Each fault repairs what it broke. */
    Map<FaultKind, Strike.Fault> faults();

    /**
     * Returns the periods in which exclusion was not promised, since the guarantees exclude the injected fault. A lease that was granted before
     * such a period need not exclude other claims from the beginning of the period. Tokens must still rise.
     */
    List<Gap> gaps();

    /** Returns what the back end keeps although no claim holds a lock or waits for one. */
    List<String> leftovers();

    /** Returns further counts for the report, by name. */
    default Map<String, Long> counts() {
        return Map.of();
    }

    /** Returns the faults that this machine cannot inject, and why. */
    default List<String> leftOut() {
        return List.of();
    }

    /** Returns the promises that the faults themselves found broken. */
    default List<String> complaints() {
        return List.of();
    }

    /** Returns the registers that the locks guard, if these servers keep them. */
    default Optional<String> register() {
        return Optional.empty();
    }

    @Override
    void close();

    static Deployment start(Terms terms, int clients, Path folder) {
        return switch (terms.target()) {
            case REDIS -> RedisServers.one(terms, clients, folder);
            case REDLOCK -> RedisServers.five(terms, clients, folder);
            case SENTINEL -> SentinelServers.start(terms, folder);
            case CLUSTER -> ClusterServers.start(terms, folder);
            case ZOOKEEPER -> ZooKeeperServers.start(terms, clients, folder);
            case ETCD -> EtcdServers.start(terms, clients);
            case POSTGRESQL -> PostgresServers.start(terms, clients, folder);
        };
    }
}
