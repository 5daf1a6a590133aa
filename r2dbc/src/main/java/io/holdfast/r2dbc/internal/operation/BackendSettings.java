package io.holdfast.r2dbc.internal.operation;

import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.error.SqlFailures;
import io.holdfast.r2dbc.internal.lane.Connections;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * The settings of a back end.
 *
 * @param address the address of the server, for messages
 */
public record BackendSettings(
        ConnectionFactory connections,
        Dialect dialect,
        @Nullable String schema,
        @Nullable String address,
        Duration claimTime,
        Duration replyTimeout,
        Scheduler timer) {

    public Connections connect() {
        return new Connections(connections, dialect, new SessionSettings(schema, replyTimeout), timer);
    }

    public SqlFailures failures() {
        return new SqlFailures(dialect, address, replyTimeout);
    }
}
