package io.holdfast.r2dbc.internal.dialect;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Statement;

/** The check of a lease in the transaction of the data: a call of {@code holdfast_fence_v1}, which fails unless the lease is valid. */
public interface FenceCheck {

    /** Returns the mark around a name that has any characters. */
    String quote();

    /**
     * Returns the statement for R2DBC, after the client has found the lease valid.
     *
     * @param function the name of the function, perhaps with its schema
     */
    Statement statement(Connection inTransaction, String function, String name, long token);

    /** Returns the text for JDBC, with two parameters. */
    String text(String function);

    /** Whether the error means that the connection does not find the function. */
    boolean isWithoutFunction(R2dbcException error);
}
