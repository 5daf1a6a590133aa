package io.holdfast.spring;

import io.lettuce.core.RedisURI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * The addresses of the masters for locks, for {@code holdfast.backend=redlock}. A bean of this type replaces {@code holdfast.redlock.uris}.
 * Its methods are called once, when the back end is made.
 */
public interface RedlockConnectionDetails extends ConnectionDetails {

    /**
     * Returns the servers.
     *
     * @return an odd number of independent servers, at least three
     */
    List<RedisURI> getUris();

    /**
     * Returns the trusted certificates, and the certificate of this application. With a bundle, every connection uses TLS, even if the
     * addresses say otherwise.
     *
     * @return the bundle; null, the default, to follow the addresses
     */
    default @Nullable SslBundle getSslBundle() {
        return null;
    }
}
