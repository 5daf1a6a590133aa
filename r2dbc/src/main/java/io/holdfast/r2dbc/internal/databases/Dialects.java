package io.holdfast.r2dbc.internal.databases;

import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.FenceCheck;
import io.holdfast.r2dbc.internal.mariadb.MariaDbDialect;
import io.holdfast.r2dbc.internal.mariadb.MariaDbFence;
import io.holdfast.r2dbc.internal.postgresql.PostgresDialect;
import io.holdfast.r2dbc.internal.postgresql.PostgresFence;

/** The choice of the room of a database. It loads no class of another one, whose driver may be missing. */
public final class Dialects {

    private static final String POSTGRESQL = "PostgreSQL";

    private Dialects() {}

    /**
     * Returns the dialect of a database.
     *
     * @param database as drivers name it
     * @throws IllegalArgumentException if the database is not supported
     */
    public static Dialect of(String database) {
        return isPostgresql(database) ? new PostgresDialect() : new MariaDbDialect(database);
    }

    /**
     * Returns the fence of a database. It needs no driver of R2DBC.
     *
     * @param database as drivers name it
     * @throws IllegalArgumentException if the database is not supported
     */
    public static FenceCheck fence(String database) {
        return isPostgresql(database) ? new PostgresFence() : new MariaDbFence();
    }

    /**
     * Returns the fence for a connection.
     *
     * @param product the driver's name of the database: with {@code r2dbc-mysql}, this is any text from the build of the server
     */
    public static FenceCheck fenceOfProduct(String product) {
        return product.equals(POSTGRESQL) ? new PostgresFence() : new MariaDbFence();
    }

    private static boolean isPostgresql(String database) {
        return switch (database) {
            case POSTGRESQL -> true;
            case "MariaDB", MariaDbDialect.MYSQL -> false;
            default ->
                throw new IllegalArgumentException(
                        "connections must be to PostgreSQL, MariaDB or MySQL, but are to " + database);
        };
    }
}
