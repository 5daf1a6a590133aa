package io.holdfast.spring;

import io.lettuce.core.RedisURI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * Where the Redis of the locks is, for {@code holdfast.backend=redis}. A bean of this type takes the place of the addresses under {@code
 * holdfast.redis} and {@code spring.data.redis}. A container with {@code @ServiceConnection} and a service of Docker Compose give one.
 *
 * <p>Is asked once, when the back end is made. Exactly one of {@link #getUri} and {@link #getClusterUris} names servers.
 */
public interface RedisLockConnectionDetails extends ConnectionDetails {

    /**
     * A standalone server, or sentinels and the name of their master.
     *
     * @return null for a cluster, the default
     */
    default @Nullable RedisURI getUri() {
        return null;
    }

    /**
     * Servers of a cluster that are asked for the others.
     *
     * @return empty where there is no cluster, the default
     */
    default List<RedisURI> getClusterUris() {
        return List.of();
    }

    /**
     * Whose certificates are trusted, and the certificate of this application. With a bundle, every connection uses TLS, whatever the
     * address says.
     *
     * @return null for what the address says, the default
     */
    default @Nullable SslBundle getSslBundle() {
        return null;
    }
}
