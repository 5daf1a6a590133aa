package io.holdfast.spring;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.spring.HoldfastProperties.Etcd;
import io.netty.handler.ssl.SslContextBuilder;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;

/** Makes a client of jetcd from properties, and the back end that uses it. */
final class EtcdClients {

    /** The shortest that servers accept by default. */
    private static final Duration BETWEEN_PINGS = Duration.ofSeconds(5);

    private static final Duration ANSWER_TO_A_PING = Duration.ofSeconds(2);

    private static final String FORM = "Write each as http://host:2379, or as https://host:2379 for TLS.";

    private EtcdClients() {}

    private record Members(
            List<String> getEndpoints, @Nullable SslBundle getSslBundle) implements EtcdLockConnectionDetails {}

    /** Returns the members under {@code holdfast.etcd}; none if the application has a client of its own. */
    static EtcdLockConnectionDetails members(Etcd properties, ObjectProvider<SslBundles> bundles) {
        return new Members(
                properties.endpoints(),
                NamedBundles.find("holdfast.etcd.ssl.bundle", properties.ssl().bundle(), bundles));
    }

    /** Makes a client that has not connected yet. */
    static Client own(Etcd properties, EtcdLockConnectionDetails connection) {
        List<URI> members =
                connection.getEndpoints().stream().map(EtcdClients::member).toList();
        ClientBuilder client = Client.builder()
                .endpoints(members)
                // Of a connection that went silent, jetcd would hear after 40 s.
                .keepaliveTime(BETWEEN_PINGS)
                .keepaliveTimeout(ANSWER_TO_A_PING);
        if (properties.username() != null && properties.password() != null) {
            client = client.user(bytes(properties.username())).password(bytes(properties.password()));
        }
        SslBundle bundle = connection.getSslBundle();
        return (bundle != null || isTls(members) ? secured(client, bundle) : client).build();
    }

    /** The message never repeats the address, which may contain a password. */
    private static URI member(String text) {
        try {
            URI address = URI.create(text.strip());
            if (address.getHost() != null
                    && address.getUserInfo() == null
                    && ("http".equals(address.getScheme()) || "https".equals(address.getScheme()))) {
                return address;
            }
        } catch (IllegalArgumentException unreadable) {
            // Refused below.
        }
        throw new InvalidLockPropertiesException(
                "holdfast.etcd.endpoints has a value that is not an address of etcd.", FORM);
    }

    /** The driver itself ignores the scheme. */
    private static boolean isTls(List<URI> members) {
        long secured =
                members.stream().filter(it -> "https".equals(it.getScheme())).count();
        if (secured != 0 && secured != members.size()) {
            throw new InvalidLockPropertiesException(
                    "holdfast.etcd.endpoints has members with TLS, and others without it.", FORM);
        }
        return secured != 0;
    }

    private static ClientBuilder secured(ClientBuilder client, @Nullable SslBundle bundle) {
        try {
            return client.sslContext(tls -> {
                if (bundle != null) {
                    fill(tls, bundle);
                }
            });
        } catch (SSLException unusable) {
            throw new InvalidLockPropertiesException(
                    "The SSL bundle for etcd cannot be used: %s.".formatted(unusable.getMessage()),
                    "Change it under spring.ssl.bundle.",
                    unusable);
        }
    }

    /** The bundle is read once. */
    private static void fill(SslContextBuilder tls, SslBundle bundle) {
        SslContextBuilder filled = tls.trustManager(bundle.getManagers().getTrustManagerFactory())
                .keyManager(bundle.getManagers().getKeyManagerFactory());
        SslOptions options = bundle.getOptions();
        if (options != null && options.getEnabledProtocols() != null) {
            filled = filled.protocols(options.getEnabledProtocols());
        }
        if (options != null && options.getCiphers() != null) {
            var unused = filled.ciphers(List.of(options.getCiphers()));
        }
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    /**
     * Returns a builder of the back end.
     *
     * @param own the client of the starter, which is made when it is used
     * @param borrowed the client of the application
     */
    static EtcdLockBackend.Builder backEnd(
            Etcd properties,
            EtcdLockConnectionDetails connection,
            ObjectProvider<Client> own,
            ObjectProvider<Client> borrowed,
            List<EtcdLockBackendCustomizer> customizers) {
        boolean isOwn = !connection.getEndpoints().isEmpty();
        requireThatItFits(properties, isOwn);
        EtcdLockBackend.Builder builder = EtcdLockBackend.builder(isOwn ? own.getObject() : only(borrowed))
                .keyPrefix(properties.keyPrefix())
                .presence(properties.presence());
        for (EtcdLockBackendCustomizer customizer : customizers) {
            builder = customizer.customize(builder);
        }
        return builder;
    }

    /** The driver loads classes of Netty 4.2, which Spring Boot 3.5 does not bring, when the back end is made. */
    static EtcdLockBackend made(EtcdLockBackend.Builder builder) {
        try {
            return builder.build();
        } catch (NoClassDefFoundError missing) {
            throw new InvalidLockPropertiesException(
                    "holdfast.backend is etcd, but jetcd and its libraries do not fit together: %s is missing."
                            .formatted(missing.getMessage()),
                    "jetcd 0.8.6 needs Netty 4.2. With Spring Boot 3.5, set the property netty.version of the build to 4.2.13.Final.",
                    missing);
        }
    }

    private static Client only(ObjectProvider<Client> borrowed) {
        Client client = borrowed.getIfUnique();
        if (client == null) {
            throw new InvalidLockPropertiesException(
                    "holdfast.backend is etcd, but holdfast.etcd.endpoints is not set, and the application has no Client of jetcd that could be shared.",
                    "Set it to the members, such as http://host1:2379,http://host2:2379,http://host3:2379, or define one bean of type io.etcd.jetcd.Client.");
        }
        return client;
    }

    private static void requireThatItFits(Etcd properties, boolean isOwn) {
        if ((properties.username() == null) != (properties.password() == null)) {
            throw new InvalidLockPropertiesException(
                    "One of holdfast.etcd.username and holdfast.etcd.password is set, and the other is not.",
                    "Set both or neither.");
        }
        if (!isOwn && (properties.username() != null || properties.ssl().bundle() != null)) {
            throw new InvalidLockPropertiesException(
                    "holdfast.etcd.username or holdfast.etcd.ssl.bundle is set, but the client is the application's own.",
                    "Give that client its user and its TLS where it is built, or set holdfast.etcd.endpoints.");
        }
    }
}
