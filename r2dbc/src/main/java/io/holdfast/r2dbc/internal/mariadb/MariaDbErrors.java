package io.holdfast.r2dbc.internal.mariadb;

import io.holdfast.r2dbc.internal.dialect.KnownError;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The meaning of the error codes of MariaDB and MySQL for locks. Their SQL states are too coarse. */
final class MariaDbErrors {

    /** The code of {@code ER_NO_SUCH_TABLE}. */
    static final int NO_SUCH_TABLE = 1146;

    /** The codes of a procedure and of a database that do not exist, and of no chosen database. */
    static final Set<Integer> NO_PROCEDURE = Set.of(1305, 1049, 1046, NO_SUCH_TABLE);

    private static final KnownError NO_SCHEMA = new KnownError(
            false,
            true,
            "the schema of Holdfast is missing in this database: run io/holdfast/r2dbc/mariadb/holdfast-1.sql of the jar of holdfast-r2dbc, or give its database to the builder as schema");

    private static final KnownError NO_RIGHT =
            new KnownError(false, true, "the user lacks a right: grant those of docs/operate/mariadb.md");

    private static final KnownError NO_DATABASE = new KnownError(false, false, "there is no such database");

    private static final KnownError READ_ONLY = new KnownError(
            true, false, "the server takes no writes: it is a replica, or read-only; connect to the primary");

    private static final KnownError FULL =
            new KnownError(true, true, "the server's disk is full: make room there; the client goes on by itself");

    private static final KnownError NO_CONNECTION =
            new KnownError(true, false, "the server has no connection left: raise max_connections");

    private static final KnownError STOPPED =
            new KnownError(true, false, "the server ended the connection: the client reconnects");

    static final KnownError BUSY = new KnownError(
            true,
            true,
            "it took longer than replyTimeout: look in information_schema.innodb_trx for a transaction that has locked rows of holdfast_lock");

    private static final Map<Integer, KnownError> MEANINGS = Map.ofEntries(
            Map.entry(1305, NO_SCHEMA),
            Map.entry(NO_SUCH_TABLE, NO_SCHEMA),
            Map.entry(
                    1046,
                    new KnownError(
                            false,
                            true,
                            "no database is chosen: name one in the address of the connection, or to the builder as schema")),
            Map.entry(1049, NO_DATABASE),
            Map.entry(
                    1044,
                    new KnownError(
                            false,
                            false,
                            "there is no such database, or the user has no right to it: check the name, and grant the rights of docs/operate/mariadb.md")),
            Map.entry(1142, NO_RIGHT),
            Map.entry(1143, NO_RIGHT),
            Map.entry(1227, NO_RIGHT),
            Map.entry(1370, NO_RIGHT),
            Map.entry(1045, new KnownError(false, false, "user or password is wrong, or the host is refused")),
            Map.entry(1290, READ_ONLY),
            Map.entry(1792, READ_ONLY),
            Map.entry(1836, READ_ONLY),
            Map.entry(
                    1047,
                    new KnownError(
                            true, false, "the node is not part of its cluster: connect to another one, or wait")),
            Map.entry(1040, NO_CONNECTION),
            Map.entry(1203, NO_CONNECTION),
            Map.entry(1226, NO_CONNECTION),
            Map.entry(1021, FULL),
            Map.entry(1114, FULL),
            Map.entry(1205, BUSY),
            Map.entry(1969, BUSY),
            Map.entry(1213, new KnownError(true, true, "the transaction met deadlocks again and again")),
            Map.entry(
                    1665,
                    new KnownError(
                            false, true, "locks need READ COMMITTED: set binlog_format to ROW or MIXED on the server")),
            Map.entry(1053, STOPPED),
            Map.entry(1152, STOPPED),
            Map.entry(1317, STOPPED),
            Map.entry(1927, STOPPED));

    private MariaDbErrors() {}

    static Optional<KnownError> explain(R2dbcException error) {
        KnownError known = MEANINGS.get(error.getErrorCode());
        String state = error.getSqlState();
        // The driver of MySQL reports no code when the server ends a connection.
        boolean isOfConnection = state == null
                ? error instanceof R2dbcNonTransientResourceException && error.getErrorCode() == 0
                : state.startsWith("08");
        return known == null && isOfConnection ? Optional.of(STOPPED) : Optional.ofNullable(known);
    }
}
