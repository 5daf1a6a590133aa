package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.r2dbc.internal.dialect.Dialects;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.r2dbc.spi.Connection;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What is asked of one kind of database: it only reads, and takes no row lock. What is asked at one time is of one instant. */
interface LockQueries {

    /** Those of a database. */
    static LockQueries of(Dialects database) {
        return database == Dialects.POSTGRESQL ? new PostgresQueries() : new MariaDbQueries();
    }

    /** Settings of a new connection, which is used for one question. */
    Mono<Void> prepare(Connection connection, SessionSettings settings);

    /** The locks with this name; free ones too. */
    Flux<FoundLock> named(Connection connection, String name);

    /** The locks after that one, in the order of name and kind; free ones too. */
    Flux<FoundLock> page(Connection connection, FoundLock.Key after, int most);
}
