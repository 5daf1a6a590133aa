package io.holdfast.r2dbc.internal.operation;

import io.holdfast.r2dbc.internal.dialect.Dialect;
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
        Scheduler timer) {}
