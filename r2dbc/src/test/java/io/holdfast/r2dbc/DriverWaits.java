package io.holdfast.r2dbc;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/** Where a driver itself may wait on an event loop. */
public final class DriverWaits implements BlockHoundIntegration {

    @Override
    public void applyTo(BlockHound.Builder builder) {
        // The driver of MariaDB reads its own version from its jar, once, as its first connection greets the server.
        builder.allowBlockingCallsInside("org.mariadb.r2dbc.util.VersionFactory", "getInstance");
    }
}
