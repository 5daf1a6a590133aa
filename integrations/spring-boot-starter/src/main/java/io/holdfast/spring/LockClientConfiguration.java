package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.spi.LockBackend;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** The client, when the application has none of its own. Not a member of what imports it: members come before all imports. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(LockClient.class)
final class LockClientConfiguration {

    @Bean
    LockClient holdfastLockClient(
            HoldfastProperties properties,
            Environment environment,
            ObjectProvider<LockBackend> backends,
            ObjectProvider<LockListener> listeners,
            ObjectProvider<LockClientCustomizer> customizers,
            ObjectProvider<LockClientDecorator> decorators) {
        LockBackend backend = backends.getIfAvailable();
        if (backend == null) {
            throw ClientFromProperties.noBackend(properties.backend());
        }
        LockClient client = ClientFromProperties.make(
                properties,
                environment.getProperty("spring.application.name"),
                backend,
                listeners.orderedStream().toList(),
                customizers.orderedStream().toList());
        return decorators
                .orderedStream()
                .reduce(client, (inner, decorator) -> decorator.decorate(inner, backend), (one, other) -> other);
    }

    @Bean
    LockClientLifecycle holdfastLockClientLifecycle(LockClient holdfastLockClient) {
        return new LockClientLifecycle(holdfastLockClient);
    }
}
