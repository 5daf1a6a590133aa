package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.r2dbc.internal.dialect.Dialects;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.r2dbc.spi.Connection;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The queries of an inspector for one kind of database. They only read, and take no row lock. The result of one query is of one instant. */
interface LockQueries {

    /** Returns the queries for a database. */
    static LockQueries of(Dialects database) {
        return database == Dialects.POSTGRESQL ? new PostgresQueries() : new MariaDbQueries();
    }

    /** Sets up a new connection, which is used for one request. */
    Mono<Void> prepare(Connection connection, SessionSettings settings);

    /** Emits the locks with this name, free ones too. */
    Flux<FoundLock> named(Connection connection, String name);

    /** Emits the locks after that one, in the order of name and kind, free ones too. */
    Flux<FoundLock> page(Connection connection, FoundLock.Key after, int most);
}
