package io.holdfast.proof.soak;

import java.util.Locale;

/** Which store the locks are in. */
enum Target {
    REDIS,
    REDLOCK,
    CLUSTER,
    ZOOKEEPER,
    POSTGRESQL;

    /** How many cycles there are in a second, unless the command line says so. */
    int rate() {
        return this == REDLOCK ? 100 : 300;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Target parse(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }

    /** The servers of ZooKeeper are Java processes: their memory is what their collector has not needed back yet. */
    boolean hasServersInJava() {
        return this == ZOOKEEPER;
    }
}
