package io.holdfast.proof.soak;

import java.nio.file.Path;
import java.util.List;

/** The servers of one back end. Its methods block. */
interface Store extends AutoCloseable {

    /**
     * The figures of all servers together.
     *
     * @param keys keys, znodes or rows
     * @param bytes the memory or disk space that they take
     * @param connections open connections, without that of the query
     */
    record Reading(long keys, long bytes, long connections) {

        Reading plus(Reading other) {
            return new Reading(keys + other.keys, bytes + other.bytes, connections + other.connections);
        }
    }

    /** Returns the addresses for the client process. */
    List<String> addresses();

    /**
     * Deletes the records of free locks with names that are not used again. The back end would delete them by itself, hours later. Records that would
     * stay for ever are not deleted, and so they count as growth.
     */
    void tidy();

    Reading read();

    /** Ends all connections of the clients. */
    void cut();

    @Override
    void close();

    static Store start(Target target, Path folder) throws InterruptedException {
        return switch (target) {
            case REDIS -> RedisStores.start(1);
            case REDLOCK -> RedisStores.start(5);
            case CLUSTER -> RedisStores.startCluster();
            case ZOOKEEPER -> ZooKeeperStore.start(folder);
            case POSTGRESQL -> PostgresTables.start();
        };
    }
}
