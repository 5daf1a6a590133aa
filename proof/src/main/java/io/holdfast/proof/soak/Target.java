package io.holdfast.proof.soak;

import java.util.Locale;

/** The back ends of soaks. */
enum Target {
    REDIS,
    REDLOCK,
    CLUSTER,
    ZOOKEEPER,
    POSTGRESQL;

    /** The number of cycles in a second, if the command line sets none. */
    int rate() {
        return this == REDLOCK ? 100 : 300;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Target parse(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }

    /** ZooKeeper's servers are Java processes: their memory includes garbage that the collector has not freed yet. */
    boolean hasServersInJava() {
        return this == ZOOKEEPER;
    }
}
