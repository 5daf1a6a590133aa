package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.LockInspector;
import java.util.Map;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Adds the actuator endpoint {@code holdfast}, if the application exposes it. It only reads, unless {@code
 * management.endpoint.holdfast.access} is {@code unrestricted}: then {@code DELETE} breaks a hold.
 */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
@ConditionalOnBean(LockClient.class)
public final class HoldfastEndpointAutoConfiguration {

    /** Called by Spring Boot. */
    public HoldfastEndpointAutoConfiguration() {}

    @Bean
    @ConditionalOnAvailableEndpoint
    @ConditionalOnMissingBean
    LockEndpoint holdfastLockEndpoint(ListableBeanFactory beans, ObjectProvider<LockInspector> inspectors) {
        Map<String, LockClient> singletons = beans.getBeansOfType(LockClient.class, false, true);
        return new LockEndpoint(singletons, inspectors::getIfAvailable);
    }
}
