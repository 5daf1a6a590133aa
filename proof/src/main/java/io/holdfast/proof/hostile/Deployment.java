package io.holdfast.proof.hostile;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The servers of one back end, and what can be done to them. Its methods block. */
interface Deployment extends AutoCloseable {

    /** Where a client finds them: by wires of its own, where there are some. */
    Address addressOf(int client);

    /** Where they are found by those whom no wire concerns. */
    Address direct();

    /** What can be done to servers and wires; each of them repairs what it broke. */
    Map<FaultKind, Strike.Fault> faults();

    /**
     * When exclusion was not promised, because the guarantees except what was done. What was granted before such a time need not exclude
     * anybody from its beginning on; tokens have to rise all the same.
     */
    List<Gap> gaps();

    /** What is in the store although nobody holds or awaits a lock. */
    List<String> leftovers();

    /** What else the report says of the faults: a name and a number. */
    default Map<String, Long> counts() {
        return Map.of();
    }

    /** Faults that this system cannot inject, and why. */
    default List<String> leftOut() {
        return List.of();
    }

    /** Promises that faults themselves have found broken. */
    default List<String> complaints() {
        return List.of();
    }

    /** Where the registers are that its locks guard, if it has them itself. */
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
            case POSTGRESQL -> PostgresServers.start(terms, clients, folder);
        };
    }
}
