package io.holdfast.r2dbc.internal.dialect;

import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.r2dbc.internal.protocol.Push;
import io.r2dbc.spi.Connection;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** One kind of database: its SQL, its notifications, its errors. All publishers are cold. */
public interface Dialect {

    /** For messages. */
    String database();

    /** Settings of a new connection; fails when the database cannot be used, or lacks the schema. */
    Mono<Session> prepare(Connection connection, SessionSettings settings);

    /**
     * Acquires, renews and releases in one transaction.
     *
     * @param channel of this client
     * @param isPatient whether to wait for rows that other calls have locked
     * @return an answer per operation, in any order, and what other clients are to be told
     */
    Flux<Answer> call(
            Connection connection, String channel, long claimMillis, boolean isPatient, List<Operation> batch);

    /** Renews only, in one statement; an answer per operation. */
    Flux<Answer> renew(Connection connection, boolean isPatient, List<Operation> batch);

    /** Tells clients, in a transaction of its own. Not asked for where {@link #call} itself tells other clients. */
    Mono<Void> push(Connection connection, List<Push.Message> messages);

    /** Deletes what is out of date, if that is due. */
    Mono<Void> sweep(Connection connection);

    /**
     * Asks the server to stop what it still does for a connection that will be given up.
     *
     * @param another makes a connection for that, without settings, if the driver has no other way
     */
    Mono<Void> interrupt(Session silent, Mono<Connection> another);

    /** Closes a connection on which no answer comes. Does not wait for one. */
    default Mono<Void> drop(Connection silent) {
        return Mono.from(silent.close());
    }

    /** A sign of life. */
    Mono<Void> ping(Connection connection);

    /**
     * Listens, and tells others that this client lives for as long as the connection does.
     *
     * @param hasWaiting whether any claim of this client waits now
     * @return what is heard, once listening is in force
     */
    Mono<Listening> listen(Connection connection, String channel, BooleanSupplier hasWaiting);

    /** What an error is; empty for one that is not known. */
    Optional<KnownError> explain(Throwable error);
}
