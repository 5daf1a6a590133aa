package io.holdfast.spring;

import io.holdfast.LockClient;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.health.CompositeReactiveHealthContributorConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.ReactiveHealthContributor;
import org.springframework.boot.actuate.health.ReactiveHealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Reports under {@code holdfast} whether the back end of each {@link LockClient} answers. {@code management.health.holdfast.enabled}
 * turns it off. For Spring Boot 3, whose classes have other names than those of {@link HoldfastHealthAutoConfiguration}.
 */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass({ReactiveHealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
@ConditionalOnBean(LockClient.class)
@ConditionalOnEnabledHealthIndicator("holdfast")
public final class HoldfastHealthOfSpringBoot3AutoConfiguration
        extends CompositeReactiveHealthContributorConfiguration<LockHealthOfSpringBoot3, LockClient> {

    /** Called by Spring Boot. */
    public HoldfastHealthOfSpringBoot3AutoConfiguration() {
        super(LockHealthOfSpringBoot3::new);
    }

    @Bean
    @ConditionalOnMissingBean(name = {"holdfastHealthIndicator", "holdfastHealthContributor"})
    ReactiveHealthContributor holdfastHealthContributor(ConfigurableListableBeanFactory beans) {
        return createContributor(beans, LockClient.class);
    }
}
