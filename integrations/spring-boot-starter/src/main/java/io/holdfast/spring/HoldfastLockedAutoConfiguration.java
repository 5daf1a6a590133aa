package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.blocking.BlockingLocks;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/** Runs methods with {@link Locked} under their locks. Needs no AspectJ. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@Import(HoldfastLockedAutoConfiguration.Proxies.class)
public final class HoldfastLockedAutoConfiguration {

    /** Called by Spring Boot. */
    public HoldfastLockedAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedAdvisor holdfastLockedAdvisor(ConfigurableListableBeanFactory beans) {
        return new LockedAdvisor(beans);
    }

    /** The locks of the client for code that may block. */
    @Bean
    @ConditionalOnSingleCandidate(LockClient.class)
    @ConditionalOnMissingBean
    static BlockingLocks holdfastBlockingLocks(LockClient client) {
        return BlockingLocks.of(client);
    }

    /**
     * Registers the proxy creator that transactions use, if it is missing. It makes proxies of classes, as is Spring Boot's default, or of
     * interfaces.
     */
    static final class Proxies implements ImportBeanDefinitionRegistrar, EnvironmentAware {

        private boolean ofClasses = true;

        @Override
        public void setEnvironment(Environment environment) {
            ofClasses = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            BeanDefinition unused = AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
            if (ofClasses) {
                AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
            }
        }
    }
}
