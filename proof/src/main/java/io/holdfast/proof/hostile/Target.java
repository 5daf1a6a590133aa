package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.Locale;

/** The back ends of campaigns. */
enum Target {
    REDIS(Duration.ofSeconds(2)),
    SENTINEL(Duration.ofSeconds(2)),
    CLUSTER(Duration.ofSeconds(2)),
    REDLOCK(Duration.ofSeconds(2)),
    ZOOKEEPER(Duration.ofSeconds(4)),
    ETCD(Duration.ofSeconds(4)),
    POSTGRESQL(Duration.ofSeconds(4));

    private final Duration lease;

    Target(Duration lease) {
        this.lease = lease;
    }

    /** The lease duration; for ZooKeeper, the session time-out. */
    Duration lease() {
        return lease;
    }

    /** The factor for the pauses between faults of servers: a failover takes long, and exclusion is not promised meanwhile. */
    int calm() {
        return this == SENTINEL || this == CLUSTER ? 5 : 1;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Target parse(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
