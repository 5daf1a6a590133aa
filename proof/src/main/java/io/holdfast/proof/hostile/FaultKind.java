package io.holdfast.proof.hostile;

import java.time.Duration;

/** The faults that a campaign injects, with their shortest and longest time in leases. */
enum FaultKind {
    CLIENT_KILLED(Field.CLIENTS, "a client process killed (SIGKILL); another one takes its place", 0, 0.1),
    CLIENT_FROZEN(Field.CLIENTS, "a client process frozen (SIGSTOP)", 0.05, 2.2),

    SERVER_KILLED(Field.SERVERS, "a server killed and started again with its data", 0.02, 1.5),
    SERVER_EMPTIED(Field.SERVERS, "a server killed and started again empty", 0.02, 1),
    MAJORITY_EMPTIED(Field.SERVERS, "three of five servers killed and started again empty", 0.02, 0.5),
    SERVER_FROZEN(Field.SERVERS, "a server frozen (SIGSTOP)", 0.05, 1.5),
    SERVER_PAUSED(Field.SERVERS, "a server paused (CLIENT PAUSE)", 0.05, 1),
    MASTER_KILLED(Field.SERVERS, "the master killed, its replica promoted", 0.02, 0.5),
    MASTER_FROZEN(Field.SERVERS, "the master frozen, its replica promoted", 0.5, 2),
    MASTER_CHANGED(Field.SERVERS, "a failover by an operator (SENTINEL FAILOVER, CLUSTER FAILOVER)", 0.02, 0.1),
    MASTER_DEMOTED(
            Field.SERVERS, "a master made a replica of an unreachable server (REPLICAOF), and a master again", 0.05, 1),
    MASTER_OVERWRITTEN(
            Field.SERVERS, "a master made a replica of an empty server (REPLICAOF), and a master again", 0.02, 0.5),
    CLOCK_SET_FORWARD(Field.SERVERS, "the clock of a server set forward, and back again", 0.05, 1.5),
    CLOCK_SET_BACK(Field.SERVERS, "the clock of a server set back, and forward again", 0.05, 1.5),
    REPLICA_KILLED(Field.SERVERS, "the replica killed and started again", 0.02, 1),
    SLOT_MOVED(Field.SERVERS, "the slot of a lock moved to another master, key by key, and back", 0.05, 1),
    LEADER_KILLED(Field.SERVERS, "the leader killed and started again with its data", 0.02, 1),
    LEADER_FROZEN(Field.SERVERS, "the leader frozen (SIGSTOP)", 0.05, 1.2),
    FOLLOWER_KILLED(Field.SERVERS, "a follower killed and started again with its data", 0.02, 1),
    FOLLOWER_FROZEN(Field.SERVERS, "a follower frozen (SIGSTOP)", 0.05, 1.2),
    DISK_SLOW(Field.SERVERS, "each write to the disk of the leader takes longer, up to a second", 0.3, 1.5),
    DISK_FULL(Field.SERVERS, "the disk full (SQLSTATE 53100)", 0.05, 1.2),
    READ_ONLY(Field.SERVERS, "the server takes no writes (default_transaction_read_only)", 0.05, 1.2),
    CONNECTIONS_USED_UP(Field.SERVERS, "all connections taken by other applications (max_connections)", 0.05, 1),
    SERVER_RESTARTED(Field.SERVERS, "a server shut down and started again", 0.02, 1),
    REPLICA_PROMOTED(Field.SERVERS, "the primary killed, its replica promoted without the last commits", 0.02, 1),
    FROZEN_PRIMARY_REPLACED(
            Field.SERVERS,
            "the primary frozen, its replica promoted without the last commits, and both take writes",
            0.1,
            1),

    REQUESTS_DROPPED(Field.NETWORK, "a client's bytes to the servers silently dropped", 0.1, 1.5),
    ANSWERS_DROPPED(Field.NETWORK, "the servers' bytes to a client silently dropped", 0.1, 1.5),
    CLIENT_CUT_OFF(
            Field.NETWORK,
            "a client cut off: bytes of both directions silently dropped, connections half-open",
            0.5,
            3),
    CONNECTIONS_RESET(Field.NETWORK, "a client's connections reset", 0.01, 0.05),
    CONNECTIONS_REFUSED(Field.NETWORK, "a client's connections reset, and new ones refused", 0.05, 0.7),
    BYTES_DELAYED(Field.NETWORK, "a client's bytes delayed in one direction", 0.2, 1.5),
    CUT_IN_MIDSTREAM(Field.NETWORK, "a client's connection reset after some more bytes", 0.05, 0.5),

    CONNECTIONS_ENDED(Field.NETWORK, "connections ended by the server (pg_terminate_backend, CLIENT KILL)", 0.02, 0.5),

    SCRIPTS_FLUSHED(Field.OPERATORS, "scripts flushed repeatedly (SCRIPT FLUSH)", 0.02, 1),
    CLIENTS_LIMITED(Field.OPERATORS, "connections ended, and new ones refused by the server (maxclients)", 0.05, 0.7),
    SAVE_FAILED(Field.OPERATORS, "writes refused, since a save has failed (MISCONF)", 0.05, 1.2),
    MEMORY_FULL(Field.OPERATORS, "writes refused, since the memory is full (OOM)", 0.05, 1.2),
    COMPACTED(Field.OPERATORS, "all revisions but the last compacted", 0.02, 0.1),
    LEASE_REVOKED(Field.OPERATORS, "a lease of etcd revoked, with all claims on it", 0.02, 0.1),
    PASSWORD_ROTATED(Field.OPERATORS, "the clients' password rotated, and their connections ended", 0.1, 0.5),

    TENANT_PUBLISHES(
            Field.STRANGERS,
            "a user with rights to channels only repeats and forges grants, and publishes nonsense",
            0.3,
            2),
    CROWD_CUT_OFF(Field.CROWDS, "two thousand waiters cut off at once, with the scripts flushed", 0.1, 1),

    PROCESSORS_BUSY(Field.PROCESSORS, "all processors kept busy", 0.2, 1);

    /** A field has one thread, which injects its faults one after the other. Faults of different fields overlap. */
    enum Field {
        CLIENTS(2_000),
        SERVERS(5_000),
        NETWORK(2_500),
        OPERATORS(6_000),
        STRANGERS(6_000),
        CROWDS(40_000),
        PROCESSORS(15_000);

        private final int longestGapMillis;

        Field(int longestGapMillis) {
            this.longestGapMillis = longestGapMillis;
        }

        /** The longest pause between two faults of a field. */
        Duration longestGap() {
            return Duration.ofMillis(longestGapMillis);
        }
    }

    private final Field field;
    private final String says;
    private final double shortest;
    private final double longest;

    FaultKind(Field field, String says, double shortest, double longest) {
        this.field = field;
        this.says = says;
        this.shortest = shortest;
        this.longest = longest;
    }

    Field field() {
        return field;
    }

    String says() {
        return says;
    }

    double shortest() {
        return shortest;
    }

    double longest() {
        return longest;
    }
}
