package io.holdfast.benchmarks.peer;

import io.holdfast.r2dbc.R2dbcLockBackend;

/** The ways to lock at one PostgreSQL. */
public enum PostgresPeer implements PeerChoice {
    /** This library. */
    HOLDFAST,
    /** The functions of this library, called one at a time on as many connections as it has, without group commit. It cannot wait. */
    RAW,
    /** Session-level advisory locks, each on a connection of a pool for as long as it is held or waited for. They have no lease and no token. */
    ADVISORY,
    /** Spring Integration's JdbcLockRegistry, on a pool. It blocks, and a waiter polls each 100 ms. */
    SPRING,
    /** ShedLock's provider for R2DBC, on a pool. It blocks, and cannot wait. */
    SHEDLOCK,
    /** No lock: the commit of an update of one row, which shows the limit of the disk. */
    COMMIT;

    @Override
    public Peer open(Addresses addresses) {
        Postgres server = addresses.postgres();
        return switch (this) {
            case HOLDFAST -> new HoldfastPeer(R2dbcLockBackend.create(server.connections()));
            case RAW -> new RawPostgresPeer(server);
            case ADVISORY -> new AdvisoryLockPeer(server);
            case SPRING -> new JdbcLockRegistryPeer(server);
            case SHEDLOCK -> new ShedLockPeer(server);
            case COMMIT -> new CommitPeer(server);
        };
    }
}
