package io.holdfast.r2dbc.internal.mariadb;

import io.holdfast.r2dbc.internal.dialect.KnownError;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** The meaning of the error codes of MariaDB and MySQL for locks. Their SQL states are too coarse. */
final class MariaDbErrors {

    /** The code of {@code ER_NO_SUCH_TABLE}. */
    static final int NO_SUCH_TABLE = 1146;

    /** The codes of a procedure and of a database that do not exist, and of no chosen database. */
    static final Set<Integer> NO_PROCEDURE = Set.of(1305, 1049, 1046, NO_SUCH_TABLE);

    private static final Map<String, KnownError> MEANINGS = KnownError.table("""
            1305 1146 | stays | keeps | the schema of Holdfast is missing in this database, or a newer one has replaced it: run io/holdfast/r2dbc/mariadb/holdfast-1.sql of the jar of holdfast-r2dbc, or give its database to the builder as schema; if holdfast_schema has a version above 1, upgrade this client instead
            1046 | stays | keeps | no database is chosen: name one in the address of the connection, or to the builder as schema
            1049 | stays | ends | there is no such database
            1044 | stays | ends | there is no such database, or the user has no right to it: check the name, and grant the rights of docs/operate/databases.md
            1142 1143 1227 1370 | stays | keeps | the user lacks a right: grant those of docs/operate/databases.md
            1045 | stays | ends | user or password is wrong, or the host is refused
            1290 1792 1836 | passes | ends | the server takes no writes: it is a replica, or read-only; connect to the primary
            1047 | passes | ends | the node is not part of its cluster: connect to another one, or wait
            1040 1203 1226 | passes | ends | the server has no connection left: raise max_connections
            1021 1114 | passes | keeps | the server's disk is full: make room there; the client goes on by itself
            1205 1969 | passes | keeps | it took longer than replyTimeout: look in information_schema.innodb_trx for a transaction that has locked rows of holdfast_lock
            1213 | passes | keeps | the transaction met deadlocks again and again
            1665 | stays | keeps | locks need READ COMMITTED: set binlog_format to ROW or MIXED on the server
            1053 1152 1317 1927 | passes | ends | the server ended the connection: the client reconnects
            """);

    static final KnownError BUSY = meaning(1205);

    private static final KnownError STOPPED = meaning(1053);

    private MariaDbErrors() {}

    static Optional<KnownError> explain(R2dbcException error) {
        KnownError known = MEANINGS.get(Integer.toString(error.getErrorCode()));
        String state = error.getSqlState();
        // The driver of MySQL reports no code when the server ends a connection.
        boolean isOfConnection = state == null
                ? error instanceof R2dbcNonTransientResourceException && error.getErrorCode() == 0
                : state.startsWith("08");
        return known == null && isOfConnection ? Optional.of(STOPPED) : Optional.ofNullable(known);
    }

    private static KnownError meaning(int code) {
        return Objects.requireNonNull(MEANINGS.get(Integer.toString(code)));
    }
}
