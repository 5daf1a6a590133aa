package io.holdfast.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.ssl.SslBundle;

/** Uses a service of Docker Compose for locks if its image is etcd, or if its label says so. */
final class EtcdComposeConnectionDetailsFactory
        extends DockerComposeConnectionDetailsFactory<EtcdLockConnectionDetails> {

    EtcdComposeConnectionDetailsFactory() {
        super(ServiceNames.ETCD.toArray(String[]::new), ServiceNames.ETCD_BACK_END);
    }

    @Override
    protected EtcdLockConnectionDetails getDockerComposeConnectionDetails(DockerComposeConnectionSource source) {
        return new OfService(source.getRunningService());
    }

    private static final class OfService extends DockerComposeConnectionDetails implements EtcdLockConnectionDetails {

        private final String endpoint;
        private final @Nullable SslBundle bundle;

        OfService(RunningService service) {
            super(service);
            endpoint = "http://" + service.host() + ":" + service.ports().get(ServiceNames.ETCD_PORT);
            bundle = getSslBundle(service);
        }

        @Override
        public List<String> getEndpoints() {
            return List.of(endpoint);
        }

        @Override
        public @Nullable SslBundle getSslBundle() {
            return bundle;
        }
    }
}
