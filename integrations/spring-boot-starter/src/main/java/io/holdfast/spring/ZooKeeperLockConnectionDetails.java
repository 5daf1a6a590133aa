package io.holdfast.spring;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * The address of ZooKeeper for locks, for {@code holdfast.backend=zookeeper}. With a bean of this type, the starter makes a client of its
 * own and ignores {@code holdfast.zookeeper.connect-string}. A container with {@code @ServiceConnection} and a service of Docker Compose
 * define such a bean.
 */
@FunctionalInterface
public interface ZooKeeperLockConnectionDetails extends ConnectionDetails {

    /**
     * Returns the servers. Called once, when the client is made.
     *
     * @return host and port of each server, separated by commas
     */
    String getConnectString();
}
