package io.holdfast.r2dbc.internal.dialect;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Statement;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The check of a lease in the transaction of the data: a call of {@code holdfast_fence_v1}, which fails unless the lease is valid. */
public enum FenceCheck {
    POSTGRESQL("select %sholdfast_fence_v1(%s)", '"') {
        @Override
        public Statement statement(Connection inTransaction, @Nullable String schema, String name, long token) {
            return inTransaction
                    .createStatement(text(schema, "$1, $2, true"))
                    .bind("$1", name)
                    .bind("$2", token);
        }

        @Override
        public boolean isWithoutFunction(R2dbcException error) {
            return NO_FUNCTION.contains(String.valueOf(error.getSqlState()));
        }
    },

    /** The check of MariaDB and MySQL. */
    MARIADB("call %sholdfast_fence_v1(%s)", '`') {
        /** Writes the name as bytes, so that the character set of the connection does not matter. */
        @Override
        public Statement statement(Connection inTransaction, @Nullable String schema, String name, long token) {
            String bytes = HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8));
            return inTransaction.createStatement(text(schema, "x'" + bytes + "', " + token + ", true"));
        }

        @Override
        public boolean isWithoutFunction(R2dbcException error) {
            return MariaDbErrors.NO_PROCEDURE.contains(error.getErrorCode());
        }
    };

    /** The SQL states of undefined functions, tables and schemas. */
    private static final Set<String> NO_FUNCTION = Set.of("42883", "42P01", "3F000");

    private static final String LEASE_HAS_ENDED = "HF001";

    private static final String CAN_BE_UNDONE = "HF002";

    private final String call;
    private final char quote;

    FenceCheck(String call, char quote) {
        this.call = call;
        this.quote = quote;
    }

    /**
     * Returns the check for a connection.
     *
     * @param product the driver's name of the database: with {@code r2dbc-mysql}, this is any text from the build of the server
     */
    public static FenceCheck of(String product) {
        return product.equals(Dialects.POSTGRESQL.database()) ? POSTGRESQL : MARIADB;
    }

    /** Returns the statement for R2DBC, after the client has found the lease valid. */
    public abstract Statement statement(Connection inTransaction, @Nullable String schema, String name, long token);

    /**
     * Returns the SQL with these arguments.
     *
     * @param schema null to let the server find the function
     * @throws IllegalArgumentException if the schema has no characters, or has the character U+0000
     */
    public final String text(@Nullable String schema, String arguments) {
        return call.formatted(schema == null ? "" : quoted(schema) + ".", arguments);
    }

    private String quoted(String schema) {
        if (schema.isBlank() || schema.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "schema must not be blank, and must not contain the character U+0000, was '%s'"
                            .formatted(schema.replace('\0', '?')));
        }
        String mark = String.valueOf(quote);
        return mark + schema.replace(mark, mark + mark) + mark;
    }

    /** Whether the error means that the lease has ended. */
    public final boolean isLost(R2dbcException error) {
        return LEASE_HAS_ENDED.equals(error.getSqlState());
    }

    /** Whether the error means that the check was made inside a savepoint. */
    public final boolean canBeUndone(R2dbcException error) {
        return CAN_BE_UNDONE.equals(error.getSqlState());
    }

    /** Whether the error means that the connection does not find the function. */
    public abstract boolean isWithoutFunction(R2dbcException error);
}
