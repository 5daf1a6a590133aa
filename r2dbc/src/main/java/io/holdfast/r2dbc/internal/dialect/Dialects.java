package io.holdfast.r2dbc.internal.dialect;

/** Which databases have a dialect. */
public enum Dialects {
    POSTGRESQL("PostgreSQL"),
    MARIADB("MariaDB"),
    MYSQL("MySQL");

    private final String database;

    Dialects(String database) {
        this.database = database;
    }

    /**
     * That of a database.
     *
     * @param database as drivers name it
     * @throws IllegalArgumentException if it has none
     */
    public static Dialects of(String database) {
        for (Dialects each : values()) {
            if (each.database.equals(database)) {
                return each;
            }
        }
        throw new IllegalArgumentException(
                "connections must be to PostgreSQL, MariaDB or MySQL, which are the databases that are supported, and are to "
                        + database);
    }

    /** How drivers name the database. */
    public String database() {
        return database;
    }

    /**
     * Its dialect.
     *
     * @param inbox for a database that notifies no clients
     */
    public Dialect with(InboxSettings inbox) {
        return this == POSTGRESQL ? new PostgresDialect() : new MariaDbDialect(database, inbox);
    }

    /** The check of a lease in a transaction. */
    public FenceCheck fence() {
        return this == POSTGRESQL ? FenceCheck.POSTGRESQL : FenceCheck.MARIADB;
    }
}
