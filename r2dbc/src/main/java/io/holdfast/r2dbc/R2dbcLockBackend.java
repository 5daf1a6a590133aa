package io.holdfast.r2dbc;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockHolder;
import io.holdfast.r2dbc.internal.databases.Dialects;
import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.error.ServerAddress;
import io.holdfast.r2dbc.internal.inspect.Inspection;
import io.holdfast.r2dbc.internal.operation.BackendSettings;
import io.holdfast.r2dbc.internal.operation.LockOperations;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Closing;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.Wrapped;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Keeps locks in the database that has the data: PostgreSQL 13 or newer with the driver {@code r2dbc-postgresql}, MariaDB 10.6 or newer
 * with {@code r2dbc-mariadb}, MySQL 8.0.22 or newer with {@code r2dbc-mysql} of asyncer.io. The connection factory decides which one.
 *
 * <p>Waiters queue in the database, first come, first served. A release hands the lock to the next waiter and signals only its client:
 * PostgreSQL notifies it. A client of MariaDB or MySQL reads every 5 to 160 ms while one of its claims waits, with one query for all of
 * its claims. Calls that meet share one transaction, and so one flush of the disk. {@link Fence} lets a transaction commit only while a
 * lease is the current one.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(R2dbcLockBackend.create(connections));
 * }</pre>
 *
 * <p><b>Schema</b>: run {@code io/holdfast/r2dbc/postgresql/holdfast-1.sql}, or {@code io/holdfast/r2dbc/mariadb/holdfast-1.sql} for
 * MariaDB and MySQL, once: with Flyway, with Liquibase, or by hand. Both files are in the jar. Without it, each request fails with an error
 * that says so.
 *
 * <p><b>Kinds</b>: mutex, read/write lock, semaphore. Each reader and each permit has a lease and a rising token of its own. Readers share
 * the lock. A queued writer holds back later readers. When it releases, all readers that follow it get the lock at once. A claim of a
 * semaphore may take several permits. While it waits for them, it holds back the claims behind it.
 *
 * <p><b>Connections</b>: at most three, for any number of locks and waiters. The back end opens them with the factory when it needs them:
 * one for calls, one for calls that wait for a row that another client has locked, and one that listens as soon as a claim must wait. If a
 * call gets no answer, another one ends its session in the server. None has an open transaction between two calls. They must lead to the
 * server directly: a proxy that changes the server's connection between transactions breaks {@code LISTEN} and the settings of the session.
 * If the factory is a pool, the back end uses the factory of that pool.
 *
 * <p><b>Durability</b>: a grant and a renewal are on the primary's disk before they are answered, and on its synchronous replicas if {@code
 * synchronous_commit} requires that. In MariaDB and MySQL, {@code innodb_flush_log_at_trx_commit} decides. A failover may lead to a replica
 * that has not received the last grants. Then a lock may be granted while its former holder still believes that it holds the lock. The
 * fence is correct even then, because lock and data are in the same log.
 *
 * <p>Answers come on the driver's threads, or after a time limit on the timer's. Thread-safe.
 */
public final class R2dbcLockBackend implements LockBackend {

    private static final Set<LockFeature> FEATURES = Set.of(
            LockFeature.FIFO,
            LockFeature.READ_WRITE,
            LockFeature.SEMAPHORE,
            LockFeature.MANY_PERMITS,
            LockFeature.HOLDERS,
            LockFeature.MIN_HOLD,
            LockFeature.HAND_ON,
            LockFeature.DOWNGRADE);

    private final LockOperations operations;
    private final Inspection inspection;
    private final String name;
    private final Closing closing;

    private R2dbcLockBackend(LockOperations operations, Inspection inspection, String database) {
        this.operations = operations;
        this.inspection = inspection;
        name = database.toLowerCase(Locale.ROOT);
        closing = new Closing("the back end in " + database, operations.close());
    }

    /**
     * Returns a back end with the defaults.
     *
     * @param connections opens connections to the database, with a user that has the rights to the schema; the back end never disposes it
     * @return a back end that has not connected yet
     * @throws IllegalArgumentException if it is for another database
     */
    public static R2dbcLockBackend create(ConnectionFactory connections) {
        return builder(connections).build();
    }

    /**
     * Returns a builder with the defaults.
     *
     * @param connections opens connections to the database, with a user that has the rights to the schema; the back end never disposes it
     * @return a builder
     * @throws IllegalArgumentException if it is for another database
     */
    public static Builder builder(ConnectionFactory connections) {
        requireNonNull(connections, "connections");
        Dialect dialect = Dialects.of(connections.getMetadata().getName());
        return new Builder(unwrapped(connections), dialect);
    }

    private static ConnectionFactory unwrapped(ConnectionFactory factory) {
        ConnectionFactory inner = factory;
        while (inner instanceof Wrapped<?> wrapper && wrapper.unwrap() instanceof ConnectionFactory next) {
            inner = next;
        }
        return inner;
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return operations.tryAcquire(requireNonNull(claim, "claim"));
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return operations.renew(requireNonNull(claim, "claim"));
    }

    @Override
    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        return operations.adopt(requireNonNull(claim, "claim"), fencingToken);
    }

    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return operations.renewAll(List.copyOf(claims));
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return operations.release(requireNonNull(claim, "claim"));
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return operations.watch(requireNonNull(claim, "claim"));
    }

    /** {@inheritDoc} Uses a connection of its own, which is closed with the answer. */
    @Override
    public Flux<LockHolder> holders(LockKey key) {
        return inspection.holders(requireNonNull(key, "key"));
    }

    @Override
    public Mono<Void> ping() {
        return operations.ping();
    }

    /**
     * {@return {@link LockFeature#FIFO}, {@link LockFeature#READ_WRITE}, {@link LockFeature#SEMAPHORE}, {@link LockFeature#MANY_PERMITS},
     * {@link LockFeature#HOLDERS}, {@link LockFeature#MIN_HOLD}, {@link LockFeature#HAND_ON} and {@link LockFeature#DOWNGRADE}}
     */
    @Override
    public Set<LockFeature> features() {
        return FEATURES;
    }

    /**
     * Names the database: {@code postgresql}, {@code mariadb} or {@code mysql}, as the driver names it.
     *
     * @return always the same
     */
    @Override
    public String name() {
        return name;
    }

    @Override
    public Mono<Void> close() {
        return closing.begin();
    }

    /** For tests. */
    LockOperations operations() {
        return operations;
    }

    /** Options of a {@link R2dbcLockBackend}. Not thread-safe. */
    public static final class Builder {

        private final ConnectionFactory connections;
        private final Dialect dialect;
        private @Nullable String schema;
        private @Nullable String address;
        private Duration claimTime = Duration.ofSeconds(2);
        private Duration replyTimeout = Duration.ofSeconds(2);
        private @Nullable Scheduler timer;

        private Builder(ConnectionFactory connections, Dialect dialect) {
            this.connections = connections;
            this.dialect = dialect;
        }

        /**
         * Sets the schema that has the tables and functions. MariaDB and MySQL call it a database.
         *
         * @param name as in the catalogue, without quotes; default: the search path of the user, or the database of the connection
         * @return this
         * @throws IllegalArgumentException if it is blank
         */
        public Builder schema(String name) {
            schema = checked("schema", name);
            return this;
        }

        /**
         * Sets how messages name the server. R2DBC reports only the kind of database.
         *
         * @param name such as {@code app@db1:5432/shop}; no secrets. Default: the database only
         * @return this
         * @throws IllegalArgumentException if it is blank
         */
        public Builder address(String name) {
            address = checked("address", name);
            return this;
        }

        /**
         * Sets how messages name the server: by user, host, port and database of these options. Nothing else of them is printed or kept.
         *
         * @param options the options of the connections
         * @return this
         */
        public Builder address(ConnectionFactoryOptions options) {
            address = ServerAddress.of(requireNonNull(options, "options"));
            return this;
        }

        /**
         * Sets how long a waiter may take to confirm a grant. A waiter behind {@code k} clients that have vanished waits {@code k + 1} times this at most.
         *
         * @param limit 10 ms to 1 minute; default 2 s
         * @return this
         * @throws IllegalArgumentException if it is out of that range
         */
        public Builder claimTime(Duration limit) {
            claimTime = checked("claimTime", limit);
            return this;
        }

        /**
         * Sets how long the server may take to answer, and to open a connection. After that, the outcome of the request is unknown, and the
         * client opens a new connection. The first connection, and each one after others that took too long, has more time: up to 10 s.
         *
         * @param limit 10 ms to 1 minute; default 2 s. Choose at least the time of a flush of the disk under load
         * @return this
         * @throws IllegalArgumentException if it is out of that range
         */
        public Builder replyTimeout(Duration limit) {
            replyTimeout = checked("replyTimeout", limit);
            return this;
        }

        /**
         * Sets the scheduler for time limits and pauses.
         *
         * @param clock the back end does not dispose it; default {@link Schedulers#parallel()}
         * @return this
         */
        public Builder timer(Scheduler clock) {
            timer = requireNonNull(clock, "clock");
            return this;
        }

        private static String checked(String option, String name) {
            if (requireNonNull(name, "name").isBlank()) {
                throw new IllegalArgumentException("%s must not be blank, was '%s'".formatted(option, name));
            }
            return name;
        }

        private static Duration checked(String option, Duration limit) {
            requireNonNull(limit, option);
            if (limit.compareTo(Duration.ofMillis(10)) < 0 || limit.compareTo(Duration.ofMinutes(1)) > 0) {
                throw new IllegalArgumentException(
                        "%s must be from 10 ms to 1 minute, was %s".formatted(option, limit));
            }
            return limit;
        }

        /**
         * Makes the back end. It does not connect yet.
         *
         * @return a back end
         */
        public R2dbcLockBackend build() {
            BackendSettings settings = settings();
            return new R2dbcLockBackend(new LockOperations(settings), new Inspection(settings), dialect.database());
        }

        /**
         * Makes an inspector of the locks of such a back end, for operators. It does not connect yet.
         *
         * @return an inspector
         */
        public R2dbcLockInspector inspector() {
            return new R2dbcLockInspector(new Inspection(settings()));
        }

        private BackendSettings settings() {
            Scheduler clock = timer == null ? Schedulers.parallel() : timer;
            return new BackendSettings(connections, dialect, schema, address, claimTime, replyTimeout, clock);
        }
    }
}
