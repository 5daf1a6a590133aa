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

        /** The name comes first: it leads the primary key. Tokens of locks of different kinds with one name are never equal. */
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

    /** And of MySQL. */
    MARIADB {
        /** The name as bytes, so that it does not depend on the character set of the connection. */
        @Override
        public Statement statement(Connection inTransaction, String name, long token) {
            String bytes = HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8));
            return inTransaction.createStatement(text("x'" + bytes + "'", Long.toString(token)));
        }

        /**
         * The outer table is read in the snapshot of the transaction: a token that came later is not in it. The inner one is locked, by its whole key: so
         * no other row is locked, and no gap, and the present token is seen. It must not become a join, which might read the two the other way round.
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
     * That of a connection.
     *
     * @param product what its driver calls the database: with {@code r2dbc-mysql}, any words of those who built the server
     */
    public static FenceCheck of(String product) {
        return product.equals(Dialects.POSTGRESQL.database()) ? POSTGRESQL : MARIADB;
    }

    /** For R2DBC. No row: the lease is not the current one. */
    public abstract Statement statement(Connection inTransaction, String name, long token);

    /** With what stands for name and token. */
    public abstract String text(String name, String token);

    /** Whether an error tells that a later grant was made since the transaction took its snapshot. */
    public abstract boolean isLost(R2dbcException error);

    /** Whether an error tells that there is no table of locks where the connection looks for it. */
    public abstract boolean isWithoutTable(R2dbcException error);

    /** What to do then. */
    public abstract String adviceWithoutTable();
}
