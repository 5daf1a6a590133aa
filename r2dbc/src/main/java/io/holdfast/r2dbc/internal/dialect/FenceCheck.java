package io.holdfast.r2dbc.internal.dialect;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Statement;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** The check of a lease in the transaction of the data. */
public enum FenceCheck {
    POSTGRESQL {
        @Override
        public Statement statement(Connection inTransaction, String name, long token) {
            return inTransaction
                    .createStatement(text("$1", "$2"))
                    .bind("$1", name)
                    .bind("$2", token);
        }

        /** The name comes first, because it leads the primary key. Tokens of locks of different kinds with one name are never equal. */
        @Override
        public String text(String name, String token) {
            return "select 1 from holdfast_lock where name = %s and token = %s and holder is not null for key share"
                    .formatted(name, token);
        }

        @Override
        public boolean isLost(R2dbcException error) {
            return "40001".equals(error.getSqlState());
        }

        @Override
        public boolean isWithoutTable(R2dbcException error) {
            return "42P01".equals(error.getSqlState());
        }

        @Override
        public String adviceWithoutTable() {
            return "the fence cannot find the table holdfast_lock: put its schema on the search path of this user";
        }
    },

    /** The check of MariaDB and MySQL. */
    MARIADB {
        /** Writes the name as bytes, so that the character set of the connection does not matter. */
        @Override
        public Statement statement(Connection inTransaction, String name, long token) {
            String bytes = HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8));
            return inTransaction.createStatement(text("x'" + bytes + "'", Long.toString(token)));
        }

        /**
         * The outer table is read in the snapshot of the transaction, which has no later token. The inner query locks its row by the whole
         * key. So it reads the present token, and locks no other row and no gap. It must not become a join, which might read the two in the
         * other order.
         */
        @Override
        public String text(String name, String token) {
            return "select 1 from holdfast_fence seen where seen.name = %s and seen.token = %s and (select fence.token from holdfast_fence fence where fence.name = seen.name and fence.slot = seen.slot lock in share mode) = seen.token"
                    .formatted(name, token);
        }

        @Override
        public boolean isLost(R2dbcException error) {
            return error.getErrorCode() == MariaDbErrors.CHANGED_SINCE_SNAPSHOT;
        }

        @Override
        public boolean isWithoutTable(R2dbcException error) {
            return error.getErrorCode() == MariaDbErrors.NO_SUCH_TABLE;
        }

        @Override
        public String adviceWithoutTable() {
            return "the fence cannot find the table holdfast_fence: it must be in the database that this connection uses";
        }
    };

    /**
     * Returns the check for a connection.
     *
     * @param product the driver's name of the database: with {@code r2dbc-mysql}, this is any text from the build of the server
     */
    public static FenceCheck of(String product) {
        return product.equals(Dialects.POSTGRESQL.database()) ? POSTGRESQL : MARIADB;
    }

    /** Returns the statement for R2DBC. If it returns no row, the lease is not the current one. */
    public abstract Statement statement(Connection inTransaction, String name, long token);

    /** Returns the SQL with these placeholders for name and token. */
    public abstract String text(String name, String token);

    /** Whether the error means that a later grant was made since the transaction took its snapshot. */
    public abstract boolean isLost(R2dbcException error);

    /** Whether the error means that the connection does not find the table of locks. */
    public abstract boolean isWithoutTable(R2dbcException error);

    /** Says what to do in that case. */
    public abstract String adviceWithoutTable();
}
