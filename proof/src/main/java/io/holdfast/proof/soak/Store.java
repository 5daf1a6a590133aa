package io.holdfast.proof.soak;

import java.nio.file.Path;
import java.util.List;

/** The servers of one back end. Its methods block. */
interface Store extends AutoCloseable {

    /**
     * What the servers say of themselves, all together.
     *
     * @param keys keys, znodes or rows
     * @param bytes what they take
     * @param connections that are open, without the one that asks
     */
    record Reading(long keys, long bytes, long connections) {

        Reading plus(Reading other) {
            return new Reading(keys + other.keys, bytes + other.bytes, connections + other.connections);
        }
    }

    /** Where the client process finds them. */
    List<String> addresses();

    /**
     * Deletes the records of free locks with names that are not used again. The store would delete them by itself, hours later: only such records
     * are deleted that were going to end in that way. So what would stay for ever is left, and counted.
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
