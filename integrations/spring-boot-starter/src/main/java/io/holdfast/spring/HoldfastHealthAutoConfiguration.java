package io.holdfast.spring;

import io.holdfast.LockClient;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.CompositeReactiveHealthContributorConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.ReactiveHealthContributor;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * Reports under {@code holdfast} whether the back end of each {@link LockClient} answers. {@code management.health.holdfast.enabled}
 * turns it off.
 */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass({ReactiveHealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
@ConditionalOnBean(LockClient.class)
@ConditionalOnEnabledHealthIndicator("holdfast")
public final class HoldfastHealthAutoConfiguration
        extends CompositeReactiveHealthContributorConfiguration<LockHealthIndicator, LockClient> {

    /** Called by Spring Boot. */
    public HoldfastHealthAutoConfiguration() {
        super(LockHealthIndicator::new);
    }

    @Bean
    @ConditionalOnMissingBean(name = {"holdfastHealthIndicator", "holdfastHealthContributor"})
    ReactiveHealthContributor holdfastHealthContributor(ConfigurableListableBeanFactory beans) {
        return createContributor(beans, LockClient.class);
    }
}
