package io.holdfast.zookeeper.internal.client;

import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * Tells BlockHound, where it is used, of the one lock that ZooKeeper's client takes when it is given a request: it guards the queue to the
 * client's own thread, which holds it for as long as it takes to add or remove an element. Found by BlockHound; not for use otherwise.
 */
public final class ZooKeeperBlockHound implements BlockHoundIntegration {

    /** Made by BlockHound. */
    public ZooKeeperBlockHound() {}

    @Override
    public void applyTo(BlockHound.Builder builder) {
        builder.allowBlockingCallsInside("org.apache.zookeeper.ClientCnxn", "queuePacket");
    }
}
