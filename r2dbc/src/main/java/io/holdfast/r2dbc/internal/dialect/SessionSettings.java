package io.holdfast.r2dbc.internal.dialect;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings of each connection of this client.
 *
 * @param schema the schema of the tables and functions; null to use the user's search path
 * @param replyTimeout how long a client waits for an answer
 */
public record SessionSettings(@Nullable String schema, Duration replyTimeout) {

    private static final long ROW_WAIT_MILLIS = 100;

    /**
     * Returns how long a call may wait for locks, and how long the server may work for an inspector. Both end before the client gives up, and
     * so can report why.
     */
    public long serverMillis() {
        return Math.max(1, replyTimeout.toMillis() * 3 / 4);
    }

    /** Returns how long a call waits for a locked row until calls for other rows have their turn. */
    public long rowWaitMillis() {
        return Math.min(ROW_WAIT_MILLIS, serverMillis());
    }
}
