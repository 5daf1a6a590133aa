package io.holdfast.spring;

import io.lettuce.core.RedisURI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * The address of the Redis server for locks, for {@code holdfast.backend=redis}. A bean of this type replaces the addresses under {@code
 * holdfast.redis} and {@code spring.data.redis}. A container with {@code @ServiceConnection} and a service of Docker Compose define such a
 * bean.
 *
 * <p>Its methods are called once, when the back end is made. Exactly one of {@link #getUri} and {@link #getClusterUris} must name servers.
 */
public interface RedisLockConnectionDetails extends ConnectionDetails {

    /**
     * Returns the address of a standalone server, or of sentinels with the name of their master.
     *
     * @return the address; null, the default, for a cluster
     */
    default @Nullable RedisURI getUri() {
        return null;
    }

    /**
     * Returns some servers of a cluster, from which the client learns the others.
     *
     * @return the servers; empty, the default, without a cluster
     */
    default List<RedisURI> getClusterUris() {
        return List.of();
    }

    /**
     * Returns the trusted certificates, and the certificate of this application. With a bundle, every connection uses TLS, even if the
     * address says otherwise.
     *
     * @return the bundle; null, the default, to follow the address
     */
    default @Nullable SslBundle getSslBundle() {
        return null;
    }
}
