package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.blocking.BlockingLocks;
import io.holdfast.spi.LockBackend;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Says what to set when a bean needs the client but the application has not chosen a back end. It runs before Spring Boot's own analyzer. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MissingLockClientAnalyzer extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException> {

    private static final Set<Class<?>> OURS = Set.of(LockClient.class, BlockingLocks.class, LockBackend.class);

    private final Environment environment;

    MissingLockClientAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(
            Throwable rootFailure, NoSuchBeanDefinitionException cause, @Nullable String description) {
        ResolvableType missing = cause.getResolvableType();
        if (missing == null
                || cause.getNumberOfBeansFound() != 0
                || !OURS.contains(missing.toClass())
                || !environment.getProperty("holdfast.enabled", Boolean.class, true)
                || StringUtils.hasText(environment.getProperty(OnBackEnd.PROPERTY))) {
            return null;
        }
        return new FailureAnalysis(
                "%s required a %s, but %s is not set, and the application has no LockBackend of its own."
                        .formatted(
                                description == null ? "A component" : description,
                                missing.toClass().getSimpleName(),
                                OnBackEnd.PROPERTY),
                InvalidLockPropertiesException.CHOICES,
                cause);
    }
}
