package io.holdfast.spring;

import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisURI;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslOptions;

/** Uses SSL bundles of Spring Boot for connections to Redis. */
final class RedisTls {

    private RedisTls() {}

    /** Returns the address. With a bundle, it returns a copy with TLS: for the server, and for each sentinel. */
    static RedisURI address(RedisURI given, @Nullable SslBundle bundle) {
        if (bundle == null) {
            return given;
        }
        RedisURI.Builder copy = RedisURI.builder(given).withSsl(true);
        given.getSentinels().forEach(sentinel -> copy.withSentinel(address(sentinel, bundle)));
        if (given.getSentinelMasterId() != null) {
            copy.withSentinelMasterId(given.getSentinelMasterId());
        }
        return copy.build();
    }

    /** Sets the certificates. The bundle is read once. */
    static RedisLockBackend.Builder certificates(RedisLockBackend.Builder builder, @Nullable SslBundle bundle) {
        if (bundle == null) {
            return builder;
        }
        SslOptions options = bundle.getOptions();
        return builder.trust(bundle.getManagers().getTrustManagerFactory())
                .identity(bundle.getManagers().getKeyManagerFactory())
                .tlsProtocols(namesOf(options == null ? null : options.getEnabledProtocols()))
                .tlsCiphers(namesOf(options == null ? null : options.getCiphers()));
    }

    private static List<String> namesOf(String @Nullable [] names) {
        return names == null ? List.of() : List.of(names);
    }
}
