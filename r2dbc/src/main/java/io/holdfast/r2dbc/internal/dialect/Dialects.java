package io.holdfast.r2dbc.internal.dialect;

/** The databases that have a dialect. */
public enum Dialects {
    POSTGRESQL("PostgreSQL"),
    MARIADB("MariaDB"),
    MYSQL("MySQL");

    private final String database;

    Dialects(String database) {
        this.database = database;
    }

    /**
     * Returns the entry of a database.
     *
     * @param database as drivers name it
     * @throws IllegalArgumentException if the database is not supported
     */
    public static Dialects of(String database) {
        for (Dialects each : values()) {
            if (each.database.equals(database)) {
                return each;
            }
        }
        throw new IllegalArgumentException(
                "connections must be to PostgreSQL, MariaDB or MySQL, but are to " + database);
    }

    /** Returns the name that drivers use for the database. */
    public String database() {
        return database;
    }

    /**
     * Returns the dialect of the database.
     *
     * @param inbox for a database that notifies no clients
     */
    public Dialect with(InboxSettings inbox) {
        return this == POSTGRESQL ? new PostgresDialect() : new MariaDbDialect(database, inbox);
    }

    /** Returns the check of a lease in a transaction. */
    public FenceCheck fence() {
        return this == POSTGRESQL ? FenceCheck.POSTGRESQL : FenceCheck.MARIADB;
    }
}
