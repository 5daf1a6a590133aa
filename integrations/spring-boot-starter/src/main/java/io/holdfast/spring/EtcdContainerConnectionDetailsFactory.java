package io.holdfast.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/** Uses a container of etcd with {@code @ServiceConnection} for locks. The names are names of images, or come from the annotation. */
final class EtcdContainerConnectionDetailsFactory
        extends ContainerConnectionDetailsFactory<Container<?>, EtcdLockConnectionDetails> {

    EtcdContainerConnectionDetailsFactory() {
        super(ServiceNames.ETCD, ServiceNames.ETCD_BACK_END);
    }

    @Override
    protected EtcdLockConnectionDetails getContainerConnectionDetails(ContainerConnectionSource<Container<?>> source) {
        return new OfContainer(source);
    }

    private static final class OfContainer extends ContainerConnectionDetails<Container<?>>
            implements EtcdLockConnectionDetails {

        OfContainer(ContainerConnectionSource<Container<?>> source) {
            super(source);
        }

        @Override
        public List<String> getEndpoints() {
            return List.of(
                    "http://" + getContainer().getHost() + ":" + getContainer().getMappedPort(ServiceNames.ETCD_PORT));
        }

        @Override
        public @Nullable SslBundle getSslBundle() {
            return super.getSslBundle();
        }
    }
}
