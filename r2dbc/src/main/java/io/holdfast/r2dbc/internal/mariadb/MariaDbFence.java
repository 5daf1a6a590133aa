package io.holdfast.r2dbc.internal.mariadb;

import io.holdfast.r2dbc.internal.dialect.FenceCheck;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Statement;

/** The fence of MariaDB and MySQL. */
public record MariaDbFence() implements FenceCheck {

    @Override
    public String quote() {
        return "`";
    }

    /** Writes the name as bytes, so that the character set of the connection does not matter. */
    @Override
    public Statement statement(Connection inTransaction, String function, String name, long token) {
        return inTransaction.createStatement(
                "call %s(%s, %d, true)".formatted(function, MariaDbDialect.bytes(name), token));
    }

    @Override
    public String text(String function) {
        return "call " + function + "(?, ?, false)";
    }

    @Override
    public boolean isWithoutFunction(R2dbcException error) {
        return MariaDbErrors.NO_PROCEDURE.contains(error.getErrorCode());
    }
}
