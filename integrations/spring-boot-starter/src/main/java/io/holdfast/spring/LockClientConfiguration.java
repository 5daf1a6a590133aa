package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.spi.LockBackend;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Makes the client, if the application has none. It is not a member of the class that imports it, because members come before all imports. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(LockBackend.class) // there is none without a choice
@ConditionalOnMissingBean(LockClient.class)
final class LockClientConfiguration {

    /** Spring closes it after the client, which needs it. */
    @Bean
    Delivery holdfastDelivery(HoldfastProperties properties, Environment environment, ConfigurableBeanFactory beans) {
        if (beans.containsBean(properties.deliverOn())) {
            beans.registerDependentBean(properties.deliverOn(), "holdfastDelivery");
        }
        return Delivery.of(properties, environment, beans);
    }

    @Bean
    LockClient holdfastLockClient(
            HoldfastProperties properties,
            Environment environment,
            Delivery delivery,
            LockBackend backend,
            ObjectProvider<LockListener> listeners,
            ObjectProvider<LockClientCustomizer> customizers,
            ObjectProvider<LockClientDecorator> decorators) {
        LockClient client = ClientFromProperties.make(
                properties,
                environment.getProperty("spring.application.name"),
                backend,
                delivery,
                listeners.orderedStream().toList(),
                customizers.orderedStream().toList());
        LockClient decorated = decorators
                .orderedStream()
                .reduce(client, (inner, decorator) -> decorator.decorate(inner, backend), (one, other) -> other);
        return ProfiledLockClient.of(decorated, LockProfiles.of(properties.locks(), properties.options()));
    }
}
