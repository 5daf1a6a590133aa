package io.holdfast.r2dbc;

import java.util.List;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Allows the places where a driver itself waits on an event loop. */
public final class DriverWaits implements BlockHoundIntegration {

    private static final List<String> GUARDED = List.of(
            "executeWhenNotInTransaction",
            "executeWhenTransaction",
            "lambda$receive$0",
            "lambda$sendCommand$0",
            "lambda$sendCommand$2",
            "sendCommandWithoutResult",
            "setAutoCommit");

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // The driver of MariaDB reads its own version from its jar once, when its first connection greets the server.
        builder.allowBlockingCallsInside("org.mariadb.r2dbc.util.VersionFactory", "getInstance");
        // A lock of the driver, which guards the order of commands and their answers. It is held only while one is
        // written.
        for (String method : GUARDED) {
            builder.allowBlockingCallsInside("org.mariadb.r2dbc.client.SimpleClient", method);
        }
    }
}
