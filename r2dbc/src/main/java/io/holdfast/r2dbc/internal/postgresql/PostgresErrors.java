package io.holdfast.r2dbc.internal.postgresql;

import io.holdfast.r2dbc.internal.dialect.KnownError;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The meaning of PostgreSQL's error codes for locks. */
final class PostgresErrors {

    /** By the beginning of a code. The first match counts. */
    private static final Map<String, KnownError> MEANINGS = KnownError.table("""
            42883 42P01 3F000 | stays | keeps | the schema of Holdfast is missing, or not on the search path, or a newer one has replaced it, or the user has no usage on it: run io/holdfast/r2dbc/postgresql/holdfast-1.sql of the jar of holdfast-r2dbc, or grant usage, or name its schema (schema of the builder, holdfast.r2dbc.schema); if holdfast_schema has a version above 1, upgrade this client instead
            42P05 26000 | passes | ends | another program has changed the session, as behind PgBouncer in transaction mode: connect to the server directly
            42501 | stays | keeps | the user lacks a right: grant those of docs/operate/databases.md
            25006 | passes | ends | the server takes no writes: it is a replica, so connect to the primary; or default_transaction_read_only is on for the server, the database or the user
            0A000 | passes | keeps | the server does not support this: it is a hot standby, which has no waiters; connect to the primary
            28 | stays | ends | user or password is wrong, or pg_hba.conf refuses them
            3D000 | stays | ends | there is no such database
            53300 | passes | ends | the server has no connection left: raise max_connections
            53100 | passes | keeps | the server's disk is full: make room there; the client goes on by itself
            53 | passes | keeps | the server lacks a resource
            54 | passes | keeps | a limit of the server was reached, such as that of its queue of notifications: check pg_notification_queue_usage()
            55P03 57014 | passes | keeps | it took longer than replyTimeout: look in pg_stat_activity for a transaction that has locked rows of holdfast_lock
            57P 08 | passes | ends | the server ended the connection: the client reconnects
            40 | passes | keeps | the transaction conflicted with another one; the client tries again
            22021 | stays | keeps | the database cannot store a character of the name
            """);

    static final KnownError BUSY = Objects.requireNonNull(MEANINGS.get("57014"));

    private PostgresErrors() {}

    static Optional<KnownError> explain(String code) {
        return MEANINGS.entrySet().stream()
                .filter(it -> code.startsWith(it.getKey()))
                .map(Map.Entry::getValue)
                .findFirst();
    }
}
