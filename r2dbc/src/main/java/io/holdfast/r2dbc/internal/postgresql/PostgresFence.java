package io.holdfast.r2dbc.internal.postgresql;

import io.holdfast.r2dbc.internal.dialect.FenceCheck;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Statement;
import java.util.Set;

/** The fence of PostgreSQL. With exact types, the server calls no other function of that name. */
public record PostgresFence() implements FenceCheck {

    /** The SQL states of undefined functions, tables and schemas. */
    private static final Set<String> NO_FUNCTION = Set.of("42883", "42P01", "3F000");

    @Override
    public String quote() {
        return "\"";
    }

    @Override
    public Statement statement(Connection inTransaction, String function, String name, long token) {
        return inTransaction
                .createStatement("select " + function + "($1::text, $2::bigint, true)")
                .bind("$1", name)
                .bind("$2", token);
    }

    @Override
    public String text(String function) {
        return "select " + function + "(cast(? as text), cast(? as bigint), false)";
    }

    @Override
    public boolean isWithoutFunction(R2dbcException error) {
        return NO_FUNCTION.contains(String.valueOf(error.getSqlState()));
    }
}
