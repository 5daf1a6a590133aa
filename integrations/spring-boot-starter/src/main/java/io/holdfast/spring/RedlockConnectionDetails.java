package io.holdfast.spring;

import io.lettuce.core.RedisURI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * Where the masters of the locks are, for {@code holdfast.backend=redlock}. A bean of this type takes the place of {@code
 * holdfast.redlock.uris}. Is asked once, when the back end is made.
 */
public interface RedlockConnectionDetails extends ConnectionDetails {

    /**
     * The servers.
     *
     * @return an odd number of them, three at least, that know nothing of each other
     */
    List<RedisURI> getUris();

    /**
     * Whose certificates are trusted, and the certificate of this application. With a bundle, every connection uses TLS, whatever the
     * addresses say.
     *
     * @return null for what the addresses say, the default
     */
    default @Nullable SslBundle getSslBundle() {
        return null;
    }
}
