package io.holdfast.spring;

import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/** Uses a container of ZooKeeper with {@code @ServiceConnection} for locks: its image is {@code zookeeper}, or the annotation says so. */
final class ZooKeeperContainerConnectionDetailsFactory
        extends ContainerConnectionDetailsFactory<Container<?>, ZooKeeperLockConnectionDetails> {

    ZooKeeperContainerConnectionDetailsFactory() {
        super(ServiceNames.ZOOKEEPER, ServiceNames.ZOOKEEPER_BACK_END);
    }

    @Override
    protected ZooKeeperLockConnectionDetails getContainerConnectionDetails(
            ContainerConnectionSource<Container<?>> source) {
        return new OfContainer(source);
    }

    private static final class OfContainer extends ContainerConnectionDetails<Container<?>>
            implements ZooKeeperLockConnectionDetails {

        OfContainer(ContainerConnectionSource<Container<?>> source) {
            super(source);
        }

        @Override
        public String getConnectString() {
            return getContainer().getHost() + ":" + getContainer().getMappedPort(ServiceNames.ZOOKEEPER_PORT);
        }
    }
}
