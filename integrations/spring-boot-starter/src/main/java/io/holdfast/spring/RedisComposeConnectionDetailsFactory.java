package io.holdfast.spring;

import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.ssl.SslBundle;

/** Uses a service of Docker Compose for locks if its image is Redis or Valkey, or if its label says so. */
final class RedisComposeConnectionDetailsFactory
        extends DockerComposeConnectionDetailsFactory<RedisLockConnectionDetails> {

    RedisComposeConnectionDetailsFactory() {
        super(ServiceNames.REDIS.toArray(String[]::new), ServiceNames.REDIS_BACK_END);
    }

    @Override
    protected RedisLockConnectionDetails getDockerComposeConnectionDetails(DockerComposeConnectionSource source) {
        return new OfService(source.getRunningService());
    }

    private static final class OfService extends DockerComposeConnectionDetails implements RedisLockConnectionDetails {

        private final RedisURI uri;
        private final @Nullable SslBundle bundle;

        OfService(RunningService service) {
            super(service);
            uri = RedisURI.create(service.host(), service.ports().get(ServiceNames.REDIS_PORT));
            bundle = getSslBundle(service);
        }

        @Override
        public RedisURI getUri() {
            return uri;
        }

        @Override
        public @Nullable SslBundle getSslBundle() {
            return bundle;
        }
    }
}
