package io.holdfast.spring;

import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;

/** Uses a service of Docker Compose for locks if its image is ZooKeeper, or if its label says so. */
final class ZooKeeperComposeConnectionDetailsFactory
        extends DockerComposeConnectionDetailsFactory<ZooKeeperLockConnectionDetails> {

    ZooKeeperComposeConnectionDetailsFactory() {
        super(ServiceNames.ZOOKEEPER, ServiceNames.ZOOKEEPER_BACK_END);
    }

    @Override
    protected ZooKeeperLockConnectionDetails getDockerComposeConnectionDetails(DockerComposeConnectionSource source) {
        return new OfService(source.getRunningService());
    }

    private static final class OfService extends DockerComposeConnectionDetails
            implements ZooKeeperLockConnectionDetails {

        private final String connectString;

        OfService(RunningService service) {
            super(service);
            connectString = service.host() + ":" + service.ports().get(ServiceNames.ZOOKEEPER_PORT);
        }

        @Override
        public String getConnectString() {
            return connectString;
        }
    }
}
