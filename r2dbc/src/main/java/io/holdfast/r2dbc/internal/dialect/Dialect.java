package io.holdfast.r2dbc.internal.dialect;

import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.r2dbc.spi.Connection;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** One kind of database: its SQL, its notifications, its errors. All publishers are cold. */
public interface Dialect {

    /** Returns the name of the database, for messages. */
    String database();

    /**
     * Sets up a new connection. Fails if the database cannot be used, or lacks the schema. A call on it waits for a row only for a moment, so
     * that the others have their turn.
     */
    Mono<Session> prepare(Connection connection, SessionSettings settings);

    /**
     * Acquires, renews and releases in one transaction. Notifies other clients.
     *
     * @param channel the channel of this client
     * @param isPatient whether to wait for rows that other calls have locked
     * @return an answer for each operation, in any order, and the messages for this client
     */
    Flux<Answer> call(
            Connection connection, String channel, long claimMillis, boolean isPatient, List<Operation> batch);

    /** Renews leases only, in one statement. Emits an answer for each operation. */
    Flux<Answer> renew(Connection connection, boolean isPatient, List<Operation> batch);

    /** Deletes some outdated rows, if that is due. Emits whether it was: then there may be more. */
    Mono<Boolean> sweep(Connection connection);

    /**
     * Requests that the server end the session of a connection that will be dropped.
     *
     * @param silent has a name
     * @param another a connection without settings
     */
    Mono<Void> interrupt(Session silent, Connection another);

    /** Closes a connection that gives no answers. Does not wait for one. */
    default Mono<Void> drop(Connection silent) {
        return Mono.from(silent.close());
    }

    /** Requests a sign of life. */
    Mono<Void> ping(Connection connection);

    /**
     * Listens, and shows other clients that this client is alive for as long as the connection is open.
     *
     * @param inbox how messages are read, if the database does not notify
     * @return the messages, as soon as listening is in force
     */
    Mono<Listening> listen(Connection connection, String channel, InboxSettings inbox);

    /** Sets up a new connection of an inspector, which sends one statement that reads. */
    Mono<Void> prepareInspector(Connection connection, SessionSettings settings);

    /** Returns the SQL of a name in the tables. The text contains no character of the name itself. */
    String literal(String storedName);

    /** Returns the SQL that writes the column {@code name} in hexadecimal digits, in UTF-8. */
    String nameInHex();

    /** Returns the meaning of an error; empty if it is not known. */
    Optional<KnownError> explain(Throwable error);
}
