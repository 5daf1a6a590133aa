package io.holdfast.spring;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.SpringBootVersion;
import org.springframework.util.ClassUtils;

/** Refuses a Spring Boot that is too old, before a class is missing somewhere. */
final class OldSpringBoot implements BeanFactoryPostProcessor {

    private static final String NEW_IN_3_5 =
            "org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty";

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        if (!ClassUtils.isPresent(NEW_IN_3_5, beans.getBeanClassLoader())) {
            throw new InvalidLockPropertiesException(
                    "Spring Boot %s is too old for Holdfast.".formatted(SpringBootVersion.getVersion()),
                    "Upgrade to Spring Boot 3.5 or later, or use holdfast-redis without the starter.");
        }
    }
}
