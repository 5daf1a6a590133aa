package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class OldSpringBootTest {

    @Test
    void aSpringBootBefore35IsRefusedWithTheVersionToUse() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues("holdfast.backend=memory")
                .withClassLoader(new FilteredClassLoader(ConditionalOnBooleanProperty.class))
                .run(context -> assertThat(Refusal.of(context).remedy()).contains("Spring Boot 3.5 or later"));
    }
}
