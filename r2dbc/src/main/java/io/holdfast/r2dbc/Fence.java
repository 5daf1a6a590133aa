package io.holdfast.r2dbc;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.r2dbc.internal.databases.Dialects;
import io.holdfast.r2dbc.internal.dialect.FenceCheck;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.spi.support.Printable;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Result;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Checks a lease inside the transaction that writes the data. If the check passes, no other claim gets the lock until that transaction
 * ends. So no write of a former holder is committed after a later grant, even after long pauses or with wrong clocks.
 *
 * <p>The lock must be in the database of the data. Check before you read what you will write, commit, and release the lease afterwards.
 * While a transaction stays open after its check, the next holder waits. {@code idle_in_transaction_session_timeout} of PostgreSQL bounds
 * that time, and {@code idle_transaction_timeout} of MariaDB.
 *
 * <p><b>Check outside of savepoints and nested transactions.</b> A rollback to a savepoint undoes a check that came after it. PostgreSQL
 * refuses such a check. MariaDB and MySQL cannot: there, the check survives only if the transaction has read or written a table before its
 * first savepoint.
 *
 * <p>The user needs the right to execute {@code holdfast_fence_v1}, and {@code SELECT} and {@code UPDATE} on the table {@code
 * holdfast_lock}. MariaDB and MySQL: also on {@code holdfast_fence}. PostgreSQL looks for the function on the search path, MariaDB and MySQL in
 * the database that the connection uses. If it is elsewhere, name its schema.
 */
public final class Fence {

    private static final String FUNCTION = "holdfast_fence_v1";

    /** The SQL state of a check that finds another lease, or none. */
    private static final String LEASE_HAS_ENDED = "HF001";

    /** The SQL state of a check inside a savepoint. */
    private static final String CAN_BE_UNDONE = "HF002";

    private Fence() {}

    /**
     * Checks that the lease is valid, and makes sure that no other claim gets the lock until the transaction ends.
     *
     * <p>Cold. Completes empty when the check passes. Fails with {@link LockLostException} when the lease has ended in the client or in the
     * database: by a release, its expiry, a downgrade, an export, or an operator. If the client knows, there is no I/O. Then roll back. Fails with
     * {@link IllegalStateException} when no transaction is open, or, in PostgreSQL, inside a savepoint, since the check would protect nothing.
     * Fails with {@link LockBackendException} when the connection does not find the function. Any other failure comes from the driver. A
     * cancellation does not end the transaction: roll it back.
     *
     * <p>From {@code REPEATABLE READ} on, the check may fail with a conflict: SQL state 40001 of PostgreSQL, or error 1020 of MariaDB. A later grant
     * causes it, or another change of the lock, or at {@code SERIALIZABLE} the caller's own data. Roll back and repeat the transaction: the next check
     * decides. If the client knows by then that the lease has ended, the error is a {@link LockLostException}.
     *
     * @param inTransaction a connection to the database of the lock, with an open transaction that is not an XA transaction; the caller closes it
     * @param lease a lease of a {@link R2dbcLockBackend} on the same database
     * @return completes empty if the check passes
     */
    public static Mono<Void> check(Connection inTransaction, LockLease lease) {
        return checkIn(inTransaction, lease, null);
    }

    /**
     * Checks the lease as {@link #check(Connection, LockLease)} does, of a lock in this schema.
     *
     * @param inTransaction a connection to the database of the lock, with an open transaction that is not an XA transaction; the caller closes it
     * @param lease a lease of a {@link R2dbcLockBackend} with this schema
     * @param schema the schema that has the tables and functions; MariaDB and MySQL call it a database
     * @return completes empty if the check passes
     */
    public static Mono<Void> check(Connection inTransaction, LockLease lease, String schema) {
        return checkIn(inTransaction, lease, requireNonNull(schema, "schema"));
    }

    private static Mono<Void> checkIn(Connection inTransaction, LockLease lease, @Nullable String schema) {
        requireNonNull(inTransaction, "inTransaction");
        requireNonNull(lease, "lease");
        return Mono.defer(() -> {
            if (!lease.isValid()) {
                return Mono.error(lost(lease, null));
            }
            if (inTransaction.isAutoCommit()) {
                return Mono.error(new IllegalStateException(
                        "cannot check lock '%s': no transaction is open, so the check would not last until a commit"
                                .formatted(Printable.text(lease.lockName()))));
            }
            FenceCheck check =
                    Dialects.fenceOfProduct(inTransaction.getMetadata().getDatabaseProductName());
            return Flux.<Result>from(check.statement(
                                    inTransaction,
                                    function(check, schema),
                                    LockText.name(lease.lockName()),
                                    lease.fencingToken())
                            .execute())
                    .concatMap(Result::getRowsUpdated, 1) // as for all statements in PostgreSQL: see PostgresDialect
                    .onErrorMap(R2dbcException.class, error -> failure(check, lease, error))
                    // A lease that has become another one meanwhile, by a downgrade or an export, is not what was
                    // checked.
                    .then(Mono.defer(() -> lease.isValid() ? Mono.<Void>empty() : Mono.error(lost(lease, null))));
        });
    }

    private static Throwable failure(FenceCheck check, LockLease lease, R2dbcException error) {
        if (LEASE_HAS_ENDED.equals(error.getSqlState()) || !lease.isValid()) {
            return lost(lease, error);
        }
        if (CAN_BE_UNDONE.equals(error.getSqlState())) {
            return new IllegalStateException(
                    "cannot check lock '%s' inside a savepoint: its rollback would undo the check; check outside of savepoints and nested transactions"
                            .formatted(Printable.text(lease.lockName())),
                    error);
        }
        return check.isWithoutFunction(error)
                ? new LockBackendException(
                        lease.lockName(),
                        "cannot check lock '%s': the fence cannot find holdfast_fence_v1 of the schema of Holdfast: name that schema in Fence.check. Driver: %s"
                                .formatted(Printable.text(lease.lockName()), error.getMessage()),
                        false,
                        error)
                : error;
    }

    private static LockLostException lost(LockLease lease, @Nullable Throwable cause) {
        return LockLostException.refusedByFence(lease.lockName(), lease.fencingToken(), cause);
    }

    /**
     * Returns the check for JDBC and JPA: a statement with two parameters, in this order: {@link LockLease#lockName()} and {@link
     * LockLease#fencingToken()}. Run it in the transaction, if {@link LockLease#isValid()}. If it fails, roll back. If it does not, no other
     * claim gets the lock until the transaction ends.
     *
     * <p>It refuses leases that were downgraded. It does not know of an export: an exported lease and the adopted one have the same token. It does
     * not work for a lock name that contains the character U+0000 or U+0001.
     *
     * <p><b>PostgreSQL</b>: it refuses savepoints and nested transactions (SQL state HF002). From {@code REPEATABLE READ} on, it judges the lease by the snapshot. So it may pass after an expiry, a release
     * or a downgrade since then. That is safe: it passes only if no other claim has got the lock since the snapshot.
     *
     * <p><b>MariaDB and MySQL</b>: the text of the connection must be UTF-8, as is usual. The check changes a row, which keeps it through
     * {@code XA PREPARE}. So transactions of one lease wait for each other.
     *
     * @param database {@code PostgreSQL}, {@code MariaDB} or {@code MySQL}, as {@code DatabaseMetaData.getDatabaseProductName()} returns it
     * @return such as {@code select holdfast_fence_v1(cast(? as text), cast(? as bigint), false)}
     * @throws IllegalArgumentException if it is another database
     */
    public static String sql(String database) {
        return sqlIn(database, null);
    }

    /**
     * Returns the check of {@link #sql(String)}, of locks in this schema.
     *
     * @param database {@code PostgreSQL}, {@code MariaDB} or {@code MySQL}, as {@code DatabaseMetaData.getDatabaseProductName()} returns it
     * @param schema the schema that has the tables and functions; MariaDB and MySQL call it a database
     * @return such as {@code select "locks".holdfast_fence_v1(cast(? as text), cast(? as bigint), false)}
     * @throws IllegalArgumentException if it is another database, or the schema is blank or contains the character U+0000
     */
    public static String sql(String database, String schema) {
        return sqlIn(database, requireNonNull(schema, "schema"));
    }

    private static String sqlIn(String database, @Nullable String schema) {
        FenceCheck check = Dialects.fence(requireNonNull(database, "database"));
        return check.text(function(check, schema));
    }

    private static String function(FenceCheck check, @Nullable String schema) {
        if (schema == null) {
            return FUNCTION;
        }
        if (schema.isBlank() || schema.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "schema must not be blank, and must not contain the character U+0000, was '%s'"
                            .formatted(schema.replace('\0', '?')));
        }
        String mark = check.quote();
        return mark + schema.replace(mark, mark + mark) + mark + "." + FUNCTION;
    }
}
