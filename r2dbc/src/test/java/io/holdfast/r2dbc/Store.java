package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.server.ContainerDatabase;
import io.holdfast.testkit.server.SqlServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.Readable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** A database with the schema, for one test class. Its methods block. */
abstract class Store implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Starts PostgreSQL with the schema. */
    static PostgresStore start() {
        return withSchema(PostgresStore.empty());
    }

    /** Starts PostgreSQL without the schema. */
    static Store empty() {
        return PostgresStore.empty();
    }

    /** Starts PostgreSQL with these settings, and the schema. */
    static PostgresStore withSettings(String... settings) {
        return withSchema(PostgresStore.withSettings(settings));
    }

    static <S extends Store> S withSchema(S empty) {
        empty.addSchema();
        return empty;
    }

    /** Returns the schema of PostgreSQL. */
    static String schema() {
        return schema("postgresql");
    }

    static String schema(String directory) {
        try (InputStream file = R2dbcLockBackend.class.getResourceAsStream(directory + "/holdfast-1.sql")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts a server in a container, without the schema. */
    static Store image(String image) {
        return ContainerDatabase.isPostgres(image) ? PostgresStore.image(image) : MariaDbStore.image(image);
    }

    abstract void addSchema();

    /** Returns the name of the database, as its driver names it. */
    abstract String product();

    abstract SqlServer server();

    /** Returns connections for lock clients and applications, with a user that has all rights. */
    abstract ConnectionFactory connections();

    /** Returns connections for another user. */
    abstract ConnectionFactory connections(String user, int port);

    final ConnectionFactory connections(String user) {
        return connections(user, server().port());
    }

    /** Returns connections for lock clients that go through a proxy. */
    abstract ConnectionFactory connectionsBy(int port);

    /** Returns connections for the tests themselves. They do not count as those of a lock client. */
    abstract ConnectionFactory ownConnections();

    final Connection connect() {
        return Mono.<Connection>from(ownConnections().create()).block(PATIENCE);
    }

    /** Runs statements one after another on one connection. An element may contain several if the driver accepts that. */
    final void execute(String... sql) {
        var unused = rows(row -> true, sql).block(PATIENCE);
    }

    /** Returns the first column of each row. If the connection breaks, it tries again and prints the log of the server. */
    final List<String> texts(String sql) {
        return rows(row -> String.valueOf(row.get(0)), sql)
                .retryWhen(Retry.max(2)
                        .filter(R2dbcNonTransientResourceException.class::isInstance)
                        .doBeforeRetry(broken ->
                                System.err.println(broken.failure() + ", and the log of the server: " + logEnd())))
                .block(PATIENCE);
    }

    private String logEnd() {
        String log = server().log();
        return log.substring(Math.max(0, log.length() - 4_000));
    }

    final int count(String sql) {
        return Integer.parseInt(texts(sql).get(0));
    }

    private <T> Mono<List<T>> rows(Function<Readable, T> mapping, String... sql) {
        return Flux.usingWhen(
                        ownConnections().create(),
                        // Uses no prepared statement: a driver may mistake a label of a procedure for a parameter.
                        open -> Flux.fromArray(sql)
                                .concatMap(one -> open.createBatch().add(one).execute())
                                .concatMap(result -> result.<T>map(mapping)),
                        Connection::close)
                .collectList();
    }

    /** Returns the shortest time that the server's own limits allow: the server must give up first. */
    abstract Duration replyTimeout();

    /** Returns the part of the message about a locked row that says where to look. */
    abstract String lockedRowAdvice();

    /** Counts the connections of lock clients in the server. */
    abstract int clientConnections();

    /** Ends the connections of lock clients, as an operator does. */
    abstract void killClientConnections();

    /** Counts clients of waiting claims that listen, as the server judges it. */
    abstract int listeners();

    /** Whether a transaction waits for a locked row. */
    abstract boolean hasBlockedCall();

    /** From now on, statements that need room fail as on a full disk: inserts, and also updates if there is no room at all. */
    abstract void fillDisk(boolean isWithoutAnyRoom);

    abstract void makeRoom();

    /**
     * From now on, commits that wait for the disk hang until {@link #resumeCommits}: they wait for a synchronous replica that does not
     * exist.
     */
    abstract void holdUpCommits();

    abstract void resumeCommits();

    /** Whether a row that a prepared transaction has locked stays locked, as the server promises. */
    abstract boolean keepsLocksOfPreparedTransactions();

    /** Whether the server ends such a commit on request. */
    abstract boolean canEndCommits();

    /** Makes {@link #work} count. */
    abstract void countWork();

    /** Returns how many calls of lock clients there were, and how many rows they have read and written; -1 if that is not counted. */
    abstract long work();

    /** Sets the waiters of that lock aside. */
    abstract void setAside(String name);

    /** Adds free locks named {@code once/1} and so on that were used once, so long ago. */
    abstract void addFreeLocks(int count, Duration ago);

    /** Does what an operator does to set how long a free lock keeps its rows. */
    abstract void keepFreeLocks(Duration time);

    /** Adds traces of released claims, made long ago. */
    abstract void addOutdatedTraces(int count);

    /** Makes the traces of released claims outdated, as if they were made long ago. */
    abstract void makeTracesOutdated();

    /** Makes a sweep due, as if the last one was long ago. */
    abstract void makeSweepDue();

    /** Sweeps by hand until nothing is due. Returns how many steps did something. */
    abstract int sweeps();

    final int freeLocks() {
        return count("select count(*) from holdfast_lock where name like 'once/%'");
    }

    static void eventually(BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("in time").isNegative();
            Mono.delay(Duration.ofMillis(10)).block();
        }
    }

    /** Returns the holders and waiters that are left. */
    abstract List<String> leftovers();

    static void end(LockBackend backend) {
        if (backend != null) {
            backend.close().block(PATIENCE);
        }
    }

    @Override
    public final void close() {
        server().close();
    }
}
