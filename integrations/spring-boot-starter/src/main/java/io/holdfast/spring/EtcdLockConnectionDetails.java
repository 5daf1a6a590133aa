package io.holdfast.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * The addresses of etcd for locks, for {@code holdfast.backend=etcd}. With a bean of this type, the starter makes a client of its own and
 * ignores {@code holdfast.etcd.endpoints}. A container with {@code @ServiceConnection} and a service of Docker Compose define such a bean.
 */
public interface EtcdLockConnectionDetails extends ConnectionDetails {

    /**
     * Returns the members. Called when the back end is made.
     *
     * @return addresses such as {@code http://host:2379}, or {@code https://host:2379} for TLS
     */
    List<String> getEndpoints();

    /**
     * Returns the trusted certificates, and the certificate of this application. With a bundle, every connection uses TLS, even if the
     * address says otherwise.
     *
     * @return the bundle; null, the default, to follow the addresses
     */
    default @Nullable SslBundle getSslBundle() {
        return null;
    }
}
