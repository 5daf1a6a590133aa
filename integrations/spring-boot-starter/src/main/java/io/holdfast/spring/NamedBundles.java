package io.holdfast.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;

/** Finds SSL bundles of Spring Boot. */
final class NamedBundles {

    private NamedBundles() {}

    /** Returns the bundle that a property names, or null. */
    static @Nullable SslBundle find(String property, @Nullable String name, ObjectProvider<SslBundles> bundles) {
        if (name == null || name.isBlank()) {
            return null;
        }
        SslBundles known = bundles.getIfAvailable();
        if (known == null) {
            throw new InvalidLockPropertiesException(
                    property + " is set, but the application has no SSL bundles.",
                    "Spring Boot's SslAutoConfiguration makes them: do not exclude it.");
        }
        try {
            return known.getBundle(name);
        } catch (NoSuchSslBundleException unknown) {
            throw new InvalidLockPropertiesException(
                    "%s is '%s', and there is no such SSL bundle.".formatted(property, name),
                    "Define it under spring.ssl.bundle.",
                    unknown);
        }
    }
}
