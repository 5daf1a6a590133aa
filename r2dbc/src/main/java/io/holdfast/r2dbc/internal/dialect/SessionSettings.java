package io.holdfast.r2dbc.internal.dialect;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Settings of each connection of this client.
 *
 * @param schema where the tables and functions are; null: where the user's search path finds them
 * @param replyTimeout how long a client waits for an answer
 */
public record SessionSettings(@Nullable String schema, Duration replyTimeout) {

    /** How long the server may work on one call: it gives up before the client does, and so tells why. */
    public long serverMillis() {
        return Math.max(1, replyTimeout.toMillis() * 3 / 4);
    }
}
