package io.holdfast.spring;

import io.holdfast.spring.RedisAddresses.OneDeployment;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The server of Spring Data: from {@code spring.data.redis}, a container, or a service of Docker Compose. It is read only if the locks need
 * it.
 *
 * @param isOfProperties whether the details are those of the properties, and of no bean that replaces them
 * @param details the details; reading them may fail
 */
record RedisOfSpringData(boolean isOfProperties, Supplier<Details> details, Environment environment)
        implements SharedRedis {

    /**
     * The details of Spring Data, whatever the version of Spring Boot. One of standalone, sentinels and cluster is there, unless there is a
     * master with replicas.
     */
    record Details(
            @Nullable Server standalone,
            @Nullable Sentinels sentinels,
            List<Server> cluster,
            @Nullable String user,
            @Nullable String password,
            @Nullable SslBundle bundle,
            Settings settings) {}

    record Server(String host, int port, int database) {}

    record Sentinels(
            String master,
            int database,
            List<Server> servers,
            @Nullable String user,
            @Nullable String password) {}

    /** Those properties that are not details. All are null if the application defines the details and Spring Boot's configuration is missing. */
    record Settings(
            @Nullable String url,
            @Nullable String clientName,
            @Nullable Duration connectTimeout) {

        static final Settings NONE = new Settings(null, null, null);
    }

    /**
     * Properties with the address of the server. Without any of them, Spring Boot uses its default address, which the application has not
     * chosen.
     */
    private static final List<String> ADDRESSES =
            List.of("url", "host", "port", "sentinel.nodes", "cluster.nodes", "masterreplica.nodes");

    @Override
    public @Nullable RedisLockConnectionDetails find() {
        if (isOfProperties && ADDRESSES.stream().noneMatch(this::isSet)) {
            return null;
        }
        return readable(() -> found(details.get()));
    }

    /** Chooses in the same way as Spring Boot. */
    private OneDeployment found(Details found) {
        String url = found.settings().url();
        boolean hasTls = found.bundle() != null || (isOfProperties && url != null && url.startsWith("rediss:"));
        if (found.sentinels() != null) {
            return new OneDeployment(sentinels(found.sentinels(), found, hasTls), List.of(), found.bundle());
        }
        if (!found.cluster().isEmpty()) {
            List<RedisURI> seeds = found.cluster().stream()
                    .map(it -> server(it, found, hasTls))
                    .toList();
            return new OneDeployment(null, seeds, found.bundle());
        }
        if (found.standalone() == null) {
            throw new InvalidLockPropertiesException(
                    "holdfast.backend is redis, and Spring Data has a master with replicas: another server may become the master, and locks must be at the master.",
                    "Set holdfast.redis.uri to the sentinels, or to the master if it stays.");
        }
        return new OneDeployment(server(found.standalone(), found, hasTls), List.of(), found.bundle());
    }

    private static RedisURI server(Server server, Details found, boolean hasTls) {
        return finished(builder(server).withDatabase(server.database()), found.user(), found.password(), found, hasTls);
    }

    private static RedisURI sentinels(Sentinels sentinels, Details found, boolean hasTls) {
        RedisURI.Builder uri =
                RedisURI.builder().withSentinelMasterId(sentinels.master()).withDatabase(sentinels.database());
        for (Server each : sentinels.servers()) {
            uri.withSentinel(finished(builder(each), sentinels.user(), sentinels.password(), found, hasTls));
        }
        return finished(uri, found.user(), found.password(), found, hasTls);
    }

    private static RedisURI.Builder builder(Server server) {
        return RedisURI.builder().withHost(server.host()).withPort(server.port());
    }

    private static RedisURI finished(
            RedisURI.Builder uri, @Nullable String user, @Nullable String password, Details found, boolean hasTls) {
        if (StringUtils.hasText(user) && password != null) {
            uri.withAuthentication(user, password.toCharArray());
        } else if (StringUtils.hasText(password)) {
            uri.withPassword(password.toCharArray());
        }
        if (StringUtils.hasText(found.settings().clientName())) {
            uri.withClientName(found.settings().clientName());
        }
        Duration limit = found.settings().connectTimeout();
        return (limit == null ? uri : uri.withTimeout(limit)).withSsl(hasTls).build();
    }

    private boolean isSet(String name) {
        return Binder.get(environment)
                .bind("spring.data.redis." + name, Object.class)
                .isBound();
    }

    /** Errors of Spring Boot repeat the URL, which may contain a password. So they must not be a cause either. */
    private static <T> T readable(Supplier<T> addresses) {
        try {
            return addresses.get();
        } catch (InvalidLockPropertiesException ours) {
            throw ours;
        } catch (RuntimeException unreadable) {
            throw new InvalidLockPropertiesException(
                    "An address under spring.data.redis cannot be read.",
                    "Write spring.data.redis.url as redis://host:port, and each node as host:port, or set holdfast.redis.uri.");
        }
    }
}
