package io.holdfast.spring;

import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/**
 * Uses a container of Redis or Valkey with {@code @ServiceConnection} for locks. The names are names of images, or come from the
 * annotation.
 */
final class RedisContainerConnectionDetailsFactory
        extends ContainerConnectionDetailsFactory<Container<?>, RedisLockConnectionDetails> {

    RedisContainerConnectionDetailsFactory() {
        super(ServiceNames.REDIS, ServiceNames.REDIS_BACK_END);
    }

    @Override
    protected RedisLockConnectionDetails getContainerConnectionDetails(ContainerConnectionSource<Container<?>> source) {
        return new OfContainer(source);
    }

    private static final class OfContainer extends ContainerConnectionDetails<Container<?>>
            implements RedisLockConnectionDetails {

        OfContainer(ContainerConnectionSource<Container<?>> source) {
            super(source);
        }

        @Override
        public RedisURI getUri() {
            return RedisURI.create(getContainer().getHost(), getContainer().getMappedPort(ServiceNames.REDIS_PORT));
        }

        @Override
        public @Nullable SslBundle getSslBundle() {
            return super.getSslBundle();
        }
    }
}
