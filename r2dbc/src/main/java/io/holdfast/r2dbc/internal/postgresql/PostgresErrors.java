package io.holdfast.r2dbc.internal.postgresql;

import io.holdfast.r2dbc.internal.dialect.KnownError;
import java.util.List;
import java.util.Optional;

/** The meaning of PostgreSQL's error codes for locks. */
final class PostgresErrors {

    private static final KnownError NO_SCHEMA = new KnownError(
            false,
            true,
            "the schema of Holdfast is missing, or not on the search path, or the user has no usage on it: run io/holdfast/r2dbc/postgresql/holdfast-1.sql of the jar of holdfast-r2dbc, or grant usage, or name its schema (schema of the builder, holdfast.r2dbc.schema)");

    private static final KnownError STOPPED =
            new KnownError(true, false, "the server ended the connection: the client reconnects");

    private static final KnownError POOLER = new KnownError(
            true,
            false,
            "another program has changed the session, as behind PgBouncer in transaction mode: connect to the server directly");

    static final KnownError BUSY = new KnownError(
            true,
            true,
            "it took longer than replyTimeout: look in pg_stat_activity for a transaction that has locked rows of holdfast_lock");

    /** The beginning of a code and its meaning. The first match counts. */
    private static final List<Meaning> MEANINGS = List.of(
            new Meaning("42883", NO_SCHEMA),
            new Meaning("42P01", NO_SCHEMA),
            new Meaning("3F000", NO_SCHEMA),
            new Meaning("42P05", POOLER),
            new Meaning("26000", POOLER),
            new Meaning(
                    "42501",
                    new KnownError(false, true, "the user lacks a right: grant those of docs/operate/postgresql.md")),
            new Meaning(
                    "25006",
                    new KnownError(
                            true,
                            false,
                            "the server takes no writes: it is a replica, so connect to the primary; or default_transaction_read_only is on for the server, the database or the user")),
            new Meaning(
                    "0A000",
                    new KnownError(
                            true,
                            true,
                            "the server does not support this: it is a hot standby, which has no waiters; connect to the primary")),
            new Meaning("28", new KnownError(false, false, "user or password is wrong, or pg_hba.conf refuses them")),
            new Meaning("3D000", new KnownError(false, false, "there is no such database")),
            new Meaning(
                    "53300", new KnownError(true, false, "the server has no connection left: raise max_connections")),
            new Meaning(
                    "53100",
                    new KnownError(
                            true, true, "the server's disk is full: make room there; the client goes on by itself")),
            new Meaning("53", new KnownError(true, true, "the server lacks a resource")),
            new Meaning(
                    "54",
                    new KnownError(
                            true,
                            true,
                            "a limit of the server was reached, such as that of its queue of notifications: check pg_notification_queue_usage()")),
            new Meaning("55P03", BUSY),
            new Meaning("57014", BUSY),
            new Meaning("57P", STOPPED),
            new Meaning("08", STOPPED),
            new Meaning(
                    "40",
                    new KnownError(true, true, "the transaction conflicted with another one; the client tries again")),
            new Meaning("22021", new KnownError(false, true, "the database cannot store a character of the name")));

    private PostgresErrors() {}

    static Optional<KnownError> explain(String code) {
        return MEANINGS.stream()
                .filter(it -> code.startsWith(it.code()))
                .map(Meaning::error)
                .findFirst();
    }

    private record Meaning(String code, KnownError error) {}
}
