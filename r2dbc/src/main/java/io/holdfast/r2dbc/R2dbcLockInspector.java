package io.holdfast.r2dbc;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockReport;
import io.holdfast.r2dbc.internal.inspect.Inspection;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A look into the locks in a database, for operators: the holders of a lock, since when and for how long, the waiters in their order, the last token. Looking
 * writes nothing, ends no hold and serves no waiter. {@link #breakHold} is the one method that does. No lock of this library depends on an inspector.
 *
 * <p>It is made by {@link R2dbcLockBackend.Builder#inspector()}, which gives it the factory, the schema and the time limit of a back end. Each question has
 * a connection of its own, in PostgreSQL named {@code holdfast inspector} in {@code pg_stat_activity}. It is closed with the answer, so there is nothing else to close.
 *
 * <p>Everything here is cold: each subscription asks anew. Signals come on the driver's threads. A failure is a {@link LockBackendException} that says what
 * to do. To connect, and each statement, may take {@link R2dbcLockBackend.Builder#replyTimeout} at most. Nothing is retried. Thread-safe.
 *
 * <p>These rights are enough to look: {@code grant select on holdfast_lock, holdfast_waiter to operator}, in PostgreSQL {@code usage} on their schema, and in MariaDB and MySQL {@code select} on
 * {@code holdfast_client} too. {@link #breakHold}
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
     * Looks at the locks of one name, with one statement.
     *
     * @param name a lock name
     * @return one report each for the mutex, the read/write lock and the semaphore of that name, as far as the database knows
     *     anything of them, be it the last token; empty when it knows nothing. All of the same instant
     * @throws IllegalArgumentException if it is no lock name
     */
    @Override
    public Flux<LockReport> inspect(String name) {
        return inspection.named(
                LockKey.of(LockKind.MUTEX, requireNonNull(name, "name")).name());
    }

    /**
     * Walks over all locks that are held, waited for or wanted, in the order of their names. A lock of which only the last token is left is passed over.
     *
     * <p>Lazy: the next 500 locks, free ones included, are asked for with one statement when they are wanted. After a cancel, nothing more is asked.
     *
     * <p>This is no snapshot: each page is of its own instant. A lock that is held during the whole walk is reported once. One that comes or goes
     * meanwhile may be reported or not.
     *
     * @return the locks
     */
    @Override
    public Flux<LockReport> all() {
        return inspection.all();
    }

    /**
     * {@inheritDoc} {@link Fence} refuses its writes from now on. A transaction of it that has passed the fence before still commits, and keeps the next grant
     * waiting until then. One transaction.
     */
    @Override
    public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
        LockKey key = LockKey.of(requireNonNull(holder, "holder").kind(), lockName);
        return inspection.breakHold(key, holder.claimId());
    }

    /**
     * Does nothing: each question closes its own connection.
     *
     * @return empty
     */
    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }
}
