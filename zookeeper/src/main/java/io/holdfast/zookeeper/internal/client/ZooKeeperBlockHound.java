package io.holdfast.zookeeper.internal.client;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Allows the one lock that ZooKeeper's client takes when it accepts a request, in applications that use BlockHound. The lock guards the
 * queue to the client's own thread, which holds it only to add or remove an element. BlockHound loads this class; do not use it yourself.
 */
public final class ZooKeeperBlockHound implements BlockHoundIntegration {

    /** Called by BlockHound. */
    public ZooKeeperBlockHound() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside("org.apache.zookeeper.ClientCnxn", "queuePacket");
    }
}
