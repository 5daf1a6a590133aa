package io.holdfast.spring;

import io.holdfast.r2dbc.R2dbcLockBackend;
import io.r2dbc.spi.ConnectionFactory;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.r2dbc.OptionsCapableConnectionFactory;
import org.springframework.util.ClassUtils;

/** Makes the back end from properties and the application's ConnectionFactory. */
final class R2dbcBackends {

    private static final boolean HAS_SPRING_BOOT_R2DBC = ClassUtils.isPresent(
            "org.springframework.boot.r2dbc.OptionsCapableConnectionFactory", R2dbcBackends.class.getClassLoader());

    private R2dbcBackends() {}

    /** If the factory is a pool, the back end uses the factory below it: its connections stay open, and would be missing in the pool. */
    static R2dbcLockBackend.Builder backEnd(
            HoldfastProperties.R2dbc properties,
            ObjectProvider<ConnectionFactory> factories,
            List<R2dbcLockBackendCustomizer> customizers) {
        ConnectionFactory factory = only(factories);
        R2dbcLockBackend.Builder builder = addressed(builder(factory), factory)
                .claimTime(properties.claimTime())
                .replyTimeout(properties.replyTimeout());
        if (properties.schema() != null) {
            builder = builder.schema(properties.schema());
        }
        for (R2dbcLockBackendCustomizer customizer : customizers) {
            builder = customizer.customize(builder);
        }
        return builder;
    }

    /** Factories of Spring Boot know their options, so messages can name the server. */
    private static R2dbcLockBackend.Builder addressed(R2dbcLockBackend.Builder builder, ConnectionFactory factory) {
        if (!HAS_SPRING_BOOT_R2DBC) {
            return builder;
        }
        OptionsCapableConnectionFactory known = OptionsCapableConnectionFactory.unwrapFrom(factory);
        return known == null ? builder : builder.address(known.getOptions());
    }

    private static ConnectionFactory only(ObjectProvider<ConnectionFactory> factories) {
        ConnectionFactory only = factories.getIfUnique();
        if (only != null) {
            return only;
        }
        throw factories.stream().findAny().isPresent()
                ? new InvalidLockPropertiesException(
                        "holdfast.backend is r2dbc, but the application has several beans of type ConnectionFactory.",
                        "Mark that of the database of the locks as @Primary, or define a LockBackend bean of your own.")
                : new InvalidLockPropertiesException(
                        "holdfast.backend is r2dbc, but the application has no ConnectionFactory.",
                        "Add spring-boot-starter-r2dbc and the driver, and set spring.r2dbc.url. In an application with JDBC or JPA, where a ConnectionFactory bean would take the place of Spring Boot's DataSource, define a LockBackend bean of your own.");
    }

    private static R2dbcLockBackend.Builder builder(ConnectionFactory factory) {
        try {
            return R2dbcLockBackend.builder(factory);
        } catch (IllegalArgumentException refusal) {
            throw new InvalidLockPropertiesException(
                    "holdfast.backend is r2dbc, but the ConnectionFactory of the application does not fit: %s."
                            .formatted(refusal.getMessage()),
                    "Set spring.r2dbc.url to a database that can have locks, or set holdfast.backend to another one.",
                    refusal);
        }
    }
}
