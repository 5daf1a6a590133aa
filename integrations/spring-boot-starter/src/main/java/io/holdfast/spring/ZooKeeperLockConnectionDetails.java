package io.holdfast.spring;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Where the ZooKeeper of the locks is, for {@code holdfast.backend=zookeeper}. With a bean of this type the starter makes a client of its own,
 * and {@code holdfast.zookeeper.connect-string} is not used. A container with {@code @ServiceConnection} and a service of Docker
 * Compose give one.
 */
@FunctionalInterface
public interface ZooKeeperLockConnectionDetails extends ConnectionDetails {

    /**
     * The servers. Is asked once, when the client is made.
     *
     * @return host and port of each server, separated by commas
     */
    String getConnectString();
}
