/**
 * Keeps locks in the database that has the data: PostgreSQL, MariaDB or MySQL, over R2DBC.
 *
 * <p>{@link io.holdfast.r2dbc.R2dbcLockBackend} is the entry point. {@link io.holdfast.r2dbc.Fence} checks a lease in the transaction of
 * the data. The rules of the protocol are in functions or procedures of the database, in the file {@code holdfast-1.sql}; the packages
 * below {@code io.holdfast.r2dbc.internal} call them. Those packages are not API.
 */
@NullMarked
@CheckReturnValue
package io.holdfast.r2dbc;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
