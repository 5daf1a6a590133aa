package io.holdfast.r2dbc;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.r2dbc.internal.dialect.Dialects;
import io.holdfast.r2dbc.internal.dialect.FenceCheck;
import io.holdfast.r2dbc.internal.protocol.LockText;
import io.holdfast.spi.Printable;
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
 * <p>PostgreSQL: the user needs the rights {@code SELECT} and {@code UPDATE} on the table {@code holdfast_lock}, which the search path must find.
 * MariaDB and MySQL: the same rights on the table {@code holdfast_fence}, in the database that the connection uses.
 */
public final class Fence {

    private Fence() {}

    /**
     * Checks that the lease is the current one, and makes sure that it stays so until the transaction ends.
     *
     * <p>Cold. Completes empty when the check passes. Fails with {@link LockLostException} when the lease has
     * ended, or when a later grant was made since the transaction took its snapshot (isolation {@code REPEATABLE READ} or stricter): then
     * roll back. Fails with {@link IllegalStateException} when no transaction is open, since the check would protect nothing. Fails with
     * {@link LockBackendException} when the connection does not find the table of the locks. Any other failure comes from the driver. A
     * cancellation does not end the transaction: roll it back.
     *
     * @param inTransaction a connection to the database of the lock, with an open transaction; the caller closes it
     * @param lease a lease of a {@link R2dbcLockBackend} on the same database
     * @return completes empty if the check passes
     */
    public static Mono<Void> check(Connection inTransaction, LockLease lease) {
        requireNonNull(inTransaction, "inTransaction");
        requireNonNull(lease, "lease");
        return Mono.defer(() -> {
            if (inTransaction.isAutoCommit()) {
                return Mono.error(new IllegalStateException(
                        "cannot check lock '%s': no transaction is open, so the check would not last until a commit"
                                .formatted(lease.lockName())));
            }
            FenceCheck check = FenceCheck.of(inTransaction.getMetadata().getDatabaseProductName());
            return Flux.<Result>from(
                            check.statement(inTransaction, LockText.name(lease.lockName()), lease.fencingToken())
                                    .execute())
                    .concatMap(result -> result.map(row -> true))
                    .next()
                    .switchIfEmpty(Mono.error(() -> lost(lease, null)))
                    .onErrorMap(R2dbcException.class, error -> failure(check, lease, error))
                    .then();
        });
    }

    private static Throwable failure(FenceCheck check, LockLease lease, R2dbcException error) {
        if (check.isLost(error)) {
            return lost(lease, error);
        }
        return check.isWithoutTable(error)
                ? new LockBackendException(
                        lease.lockName(),
                        "cannot check lock '%s': %s. Driver: %s"
                                .formatted(
                                        Printable.text(lease.lockName()),
                                        check.adviceWithoutTable(),
                                        error.getMessage()),
                        false,
                        error)
                : error;
    }

    private static LockLostException lost(LockLease lease, @Nullable Throwable cause) {
        return LockLostException.refusedByFence(lease.lockName(), lease.fencingToken(), cause);
    }

    /**
     * Returns the check of PostgreSQL for JDBC and JPA: a query with two parameters, in this order: {@link LockLease#lockName()} and {@link
     * LockLease#fencingToken()}. Run it in the transaction. If it returns one row, the lease is the current one until the transaction ends.
     * If it returns no row, or fails with SQL state 40001, roll back.
     *
     * <p>It does not work for a lock name that contains the character U+0000 or U+0001.
     *
     * @return such as {@code select 1 from holdfast_lock where name = ? and …}
     */
    public static String sql() {
        return Dialects.POSTGRESQL.fence().text("?", "?");
    }

    /**
     * Returns the check of one database for JDBC and JPA: a query with two parameters, in this order: {@link LockLease#lockName()} and
     * {@link LockLease#fencingToken()}. Run it in the transaction. If it returns one row, the lease is the current one until the
     * transaction ends. If it returns no row, or fails, roll back. With MariaDB and MySQL, the text of the connection must be UTF-8, as is
     * usual.
     *
     * <p>It does not work for a lock name that contains the character U+0000 or U+0001.
     *
     * @param database {@code PostgreSQL}, {@code MariaDB} or {@code MySQL}, as {@code DatabaseMetaData.getDatabaseProductName()} returns it
     * @return such as {@code select 1 from holdfast_fence seen where seen.name = ? and …}
     * @throws IllegalArgumentException if it is another database
     */
    public static String sql(String database) {
        return Dialects.of(requireNonNull(database, "database")).fence().text("?", "?");
    }
}
