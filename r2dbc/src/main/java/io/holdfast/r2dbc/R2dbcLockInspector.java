package io.holdfast.r2dbc;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.r2dbc.internal.inspect.Inspection;
import io.holdfast.spi.LockKey;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Inspects the locks in a database, for operators: the holders of a lock, since when and for how long, the waiters in their order, the last
 * token. Inspecting writes nothing, ends no hold and serves no waiter. Only {@link #breakHold} does. No lock of this library depends on an
 * inspector.
 *
 * <p>{@link R2dbcLockBackend.Builder#inspector()} makes it, with the factory, the schema and the time limit of a back end. Each request has
 * a connection of its own, which PostgreSQL lists as {@code holdfast inspector} in {@code pg_stat_activity}. It is closed with the answer,
 * so there is nothing else to close.
 *
 * <p>All publishers are cold: each subscription sends a new request. Signals come on the driver's threads. A failure is a {@link
 * LockBackendException} that says what to do. Connecting, and each statement, may take at most {@link
 * R2dbcLockBackend.Builder#replyTimeout}. Nothing is retried. Thread-safe.
 *
 * <p>These rights are enough to inspect: {@code grant select on holdfast_lock, holdfast_holders, holdfast_waiters to operator}, in PostgreSQL {@code
 * usage} on their schema, and in MariaDB and MySQL {@code select} on {@code holdfast_waiter} and {@code holdfast_client} too. {@link #breakHold}
 * needs the rights of a client.
 *
 * <pre>{@code
 * R2dbcLockInspector inspector = R2dbcLockBackend.builder(connections).inspector();
 * Flux<String> slow = inspector.all()
 *         .filter(lock -> lock.waiterCount() > 100)
 *         .map(lock -> lock.name() + " is held by " + lock.holders());
 * }</pre>
 *
 * @see LockReport
 */
public final class R2dbcLockInspector implements LockInspector {

    private final Inspection inspection;

    R2dbcLockInspector(Inspection inspection) {
        this.inspection = inspection;
    }

    /**
     * Inspects the locks of one name, with one statement.
     *
     * @param name a lock name
     * @return one report each for the mutex, the read/write lock and the semaphore of that name. A lock is left out if the database does
     *     not even have its last token. All reports are of the same instant
     * @throws IllegalArgumentException if it is not a valid lock name
     */
    @Override
    public Flux<LockReport> inspect(String name) {
        return inspection.named(
                LockKey.of(LockKind.MUTEX, requireNonNull(name, "name")).name());
    }

    /**
     * Emits all locks that have a holder, a waiter or a claim that wants a hint, in the order of their names. A lock of which only the last
     * token is left is skipped.
     *
     * <p>Lazy: one statement reads the next 500 locks, free ones included, when the subscriber requests them. After a cancellation, no more
     * statement is sent.
     *
     * <p>This is no snapshot: each page is of its own instant. A lock that is held during the whole walk is reported once. A lock that is
     * taken or released meanwhile may be reported or not.
     *
     * @return the locks
     */
    @Override
    public Flux<LockReport> all() {
        return inspection.all();
    }

    /**
     * {@inheritDoc} {@link Fence} refuses the writes of that holder from now on. If a transaction of the holder has already passed the
     * fence, it still commits, and the next grant waits until then. This is one transaction.
     */
    @Override
    public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
        LockKey key = LockKey.of(requireNonNull(holder, "holder").kind(), lockName);
        return inspection.breakHold(key, holder.claimId());
    }

    /**
     * Does nothing: each request closes its own connection.
     *
     * @return empty
     */
    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }
}
